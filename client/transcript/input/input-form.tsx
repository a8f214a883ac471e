/**
 * input-form.tsx: asks the user what a tool call's MCP server wants to know: the server's text and fields, and buttons
 * that send the answer or decline. The form disappears once the user has answered, in any tab. SPEC MP34.
 *
 * All text in the form comes from the MCP server. It is shown as plain text, below the page's own line, which names the
 * server.
 */

import type { VNode } from "preact"
import { useRef, useState } from "preact/hooks"
import type { CallInput } from "../../../shared/protocol/input/call-input.ts"
import { listInvalidFields } from "../../../shared/protocol/input/check-content.ts"
import { type Api, sessionPath } from "../../net/api.ts"
import { createJsonRequest, describeError, readJson, RequestError } from "../../net/http-request.ts"
import { inputText } from "../../words/parts/input-text.ts"
import { InputFieldView } from "./input-field-view.tsx"
import { type Entries, type Entry, entriesToContent, getEntry } from "./input-values.ts"

interface InputFormProps {
  readonly api: Api
  /** The session, as named in the page's URL. */
  readonly session: string
  readonly callId: string
  readonly input: CallInput
}

export function InputForm(props: InputFormProps): VNode {
  const { server, message, fields } = props.input
  const { formRef, entries, invalid, sent, error, change, send } = useAnswer(props)
  const submit = (event: Event): void => {
    event.preventDefault()
    void send("accept")
  }
  return (
    <form class="ask input" noValidate aria-label={inputText.asks(server)} ref={formRef} onSubmit={submit}>
      <p>{inputText.asks(server)}</p>
      <p class="words" dir="auto">
        {message}
      </p>
      <div class="template">
        {fields.map((field) => (
          <InputFieldView
            key={field.name}
            field={field}
            entry={getEntry(entries, field)}
            isInvalid={invalid.has(field.name)}
            onChange={(entry) => change(field.name, entry)}
          />
        ))}
      </div>
      <p class="careful">{inputText.careful}</p>
      <button type="submit" class="firm" aria-disabled={sent !== null}>
        {sent === "accept" ? inputText.sending : inputText.send}
      </button>
      <button type="button" aria-disabled={sent !== null} onClick={() => void send("decline")}>
        {sent === "decline" ? inputText.sending : inputText.decline}
      </button>
      {error !== "" && (
        <p class="fault" role="alert">
          {error}
        </p>
      )}
    </form>
  )
}

type Action = "accept" | "decline"

/**
 * Returns what the user has entered, and the functions that change and send it. The input is kept only in this tab
 * until it is sent.
 */
function useAnswer({ api, session, callId, input }: InputFormProps) {
  const { id, fields } = input
  const formRef = useRef<HTMLFormElement>(null)
  const [entries, setEntries] = useState<Entries>(new Map())
  const [invalid, setInvalid] = useState<ReadonlySet<string>>(new Set())
  const [sent, setSent] = useState<Action | null>(null)
  const [error, setError] = useState("")
  const change = (name: string, entry: Entry): void => {
    setEntries(new Map(entries).set(name, entry))
    setInvalid(new Set([...invalid].filter((other) => other !== name)))
  }
  const markInvalid = (names: readonly string[]): void => {
    setInvalid(new Set(names))
    const at = fields.findIndex(({ name }) => names.includes(name))
    formRef.current?.querySelectorAll(".view-field")[at]?.querySelector<HTMLElement>("input, select, textarea")?.focus()
  }
  const send = async (action: Action): Promise<void> => {
    if (sent !== null) return
    const content = entriesToContent(fields, entries)
    const wrong = action === "accept" ? listInvalidFields(fields, content) : []
    if (wrong.length > 0) return markInvalid(wrong)
    setSent(action)
    setError("")
    // The form is about to disappear, so the focus moves to the call.
    formRef.current?.parentElement?.querySelector("summary")?.focus({ preventScroll: true })
    const answer = { input: id, action, ...(action === "accept" && { content }) }
    const problem = await postAnswer(api, session, callId, answer)
    if (problem === null) return
    setSent(null)
    if (problem.field !== undefined) markInvalid([problem.field])
    else setError(problem.text)
  }
  return { formRef, entries, invalid, sent, error, change, send }
}

/** The reason why an answer was refused. `field`: the field whose value doesn't fit. */
interface Problem {
  readonly text: string
  readonly field?: string | undefined
}

/**
 * Sends an answer. Returns null if the server now has this answer or already had another; in both cases, the form
 * disappears.
 */
async function postAnswer(api: Api, session: string, callId: string, answer: object): Promise<Problem | null> {
  try {
    const path = sessionPath(session, `/calls/${callId}/input`)
    const response = await api.fetchAuthorized(path, createJsonRequest("POST", answer))
    if (!response.ok) await readJson(response)
    return null
  } catch (error) {
    if (!(error instanceof RequestError)) return { text: describeError(error) }
    if (error.code === "call_decided") return null
    const field = error.code === "field_invalid" ? error.fields["field"] : undefined
    return { text: describeError(error), ...(typeof field === "string" && { field }) }
  }
}
