/** prompt-dialog.tsx: the dialog that adds, changes and deletes saved prompts. Source: SPEC WR22. */

import { nanoid } from "nanoid"
import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import {
  MAX_PROMPT_BYTES,
  MAX_PROMPT_NAME_CHARS,
  type SavedPrompt,
} from "../../shared/protocol/writing/saved-prompt.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import type { Api } from "../net/api.ts"
import { describeError } from "../net/http-request.ts"
import { Dialog } from "../ui/dialog.tsx"
import { writingText } from "../words/writing-text.ts"
import { savedPrompts } from "./prompt-store.ts"
import { deletePrompt, savePrompt } from "./writing-api.ts"

interface PromptDialogProps {
  readonly api: Api
  /** The initial text of a new prompt, which is what the user has typed in the message box. */
  readonly initialText: string
  readonly onClose: () => void
}

type EditedPrompt = Pick<SavedPrompt, "id" | "name" | "text">

export function PromptDialog({ api, initialText, onClose }: PromptDialogProps): VNode {
  const [edited, setEdited] = useState<EditedPrompt | null>(null)
  const [error, setError] = useState("")
  const prompts = savedPrompts.entries.value
  useEffect(() => void savedPrompts.reload(api), [])
  const change = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
      await savedPrompts.reload(api)
      setEdited(null)
      setError("")
    } catch (reason) {
      setError(describeError(reason))
    }
  }
  return (
    <Dialog title={writingText.prompts} onCancel={onClose}>
      {edited === null ? (
        <>
          {prompts?.length === 0 && <p>{writingText.noPrompts}</p>}
          <ul class="prompts">
            {prompts?.map((prompt) => (
              <PromptRow
                key={prompt.id}
                prompt={prompt}
                onEdit={() => setEdited(prompt)}
                onDelete={() => void change(() => deletePrompt(api, prompt.id))}
              />
            ))}
          </ul>
        </>
      ) : (
        <PromptForm
          prompt={edited}
          onSave={(prompt) => void change(() => savePrompt(api, prompt.id, prompt))}
          onCancel={() => setEdited(null)}
        />
      )}
      {error !== "" && (
        <p class="fault" role="alert">
          {error}
        </p>
      )}
      {edited === null && (
        <div class="ways">
          <button type="button" data-first="" onClick={() => setEdited({ id: nanoid(), name: "", text: initialText })}>
            {writingText.newPrompt}
          </button>
          <button type="button" class="firm" onClick={onClose}>
            {writingText.done}
          </button>
        </div>
      )}
    </Dialog>
  )
}

interface PromptRowProps {
  readonly prompt: SavedPrompt
  readonly onEdit: () => void
  readonly onDelete: () => void
}

function PromptRow({ prompt: { name, text }, onEdit, onDelete }: PromptRowProps): VNode {
  return (
    <li>
      <button type="button" class="prompt" title={writingText.editPrompt(name)} onClick={onEdit}>
        <b dir="auto">{name}</b> <small dir="auto">{text}</small>
      </button>
      <button
        type="button"
        class="delete"
        aria-label={writingText.deletePrompt(name)}
        title={writingText.deletePrompt(name)}
        onClick={onDelete}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M6 6l8 8M14 6l-8 8" />
        </svg>
      </button>
    </li>
  )
}

interface PromptFormProps {
  readonly prompt: EditedPrompt
  readonly onSave: (prompt: EditedPrompt) => void
  readonly onCancel: () => void
}

function PromptForm({ prompt, onSave, onCancel }: PromptFormProps): VNode {
  const [name, setName] = useState(prompt.name)
  const [text, setText] = useState(prompt.text)
  const isComplete = name.trim() !== "" && text.trim() !== "" && countUtf8Bytes(text) <= MAX_PROMPT_BYTES
  return (
    <form
      class="prompt-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (isComplete) onSave({ ...prompt, name, text })
      }}
    >
      <label>
        {writingText.promptName}
        <input
          value={name}
          maxLength={MAX_PROMPT_NAME_CHARS}
          dir="auto"
          data-first=""
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        {writingText.promptText}
        <textarea rows={6} value={text} dir="auto" onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <div class="ways">
        <button type="button" onClick={onCancel}>
          {writingText.cancel}
        </button>
        <button type="submit" class="firm" disabled={!isComplete}>
          {writingText.save}
        </button>
      </div>
    </form>
  )
}
