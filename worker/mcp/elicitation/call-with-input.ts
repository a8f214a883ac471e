/**
 * call-with-input.ts: calls a tool whose server can ask the user, and repeats the call with the answers.
 *
 * call → input_required → stored, shown (InputNeeded) … answer → call again, with the answers and the server's state
 * The questions are stored before the call waits, and the answers before the call runs again, so a restart loses
 * neither. Whether an interrupted call is run again is decided elsewhere, as for any other call (SPEC MP10).
 */

import { fail, type McpFlaw, type Result, succeed } from "../../../shared/fault.ts"
import type { InputAnswer } from "../../../shared/protocol/input/call-input.ts"
import { type CallInputs, findOpenForm, type StoredInput } from "../../store/callbacks/call-inputs.ts"
import { InputNeeded } from "../../tool/tool.ts"
import type { McpResult } from "../mcp-result.ts"
import { readInputRequired } from "./read-input-required.ts"

/** Maximum number of times that a call may ask the user. Otherwise a server could keep asking forever. */
const MAX_ROUNDS = 3

/** What a repeated call contains besides its arguments. */
export interface InputReply {
  readonly inputResponses?: { readonly [key: string]: InputAnswer }
  readonly requestState?: string
}

/** The server's reply to one request: the tool's result, or the questions exactly as the server sent them. */
export type ServerReply = McpResult | { readonly asks: { readonly [key: string]: unknown } }

export interface InputCall {
  readonly inputs: CallInputs
  readonly call_id: string
  /** The name of the server. */
  readonly server: string
  /** Sends the call, with answers if there are any. */
  readonly send: (reply: InputReply) => Promise<Result<ServerReply, McpFlaw>>
}

export async function callWithInput(call: InputCall): Promise<Result<McpResult | InputNeeded, McpFlaw>> {
  const { inputs, call_id, server, send } = call
  const stored = inputs.find(call_id)
  // Open questions of an interrupted run are asked again.
  let answered = stored !== null && findOpenForm(stored) === null ? stored : null
  for (;;) {
    const replied = await send(answered === null ? {} : toReply(answered))
    if (!replied.ok) return replied
    if (!("asks" in replied.value)) return succeed(replied.value)
    const round = (answered?.round ?? 0) + 1
    if (round > MAX_ROUNDS) return fail("input")
    const required = readInputRequired(replied.value.asks, server, round)
    if (!required.ok) return required
    const form = findOpenForm(required.value)
    if (form !== null) {
      inputs.put(call_id, required.value)
      return succeed(new InputNeeded(form))
    }
    // There is nothing to ask the user: the server only asks to be called again, or its requests were declined.
    answered = required.value
  }
}

function toReply({ requests, state }: StoredInput): InputReply {
  const responses = requests.map(({ key, answer }) => [key, answer ?? { action: "cancel" }] as const)
  return {
    ...(responses.length > 0 && { inputResponses: Object.fromEntries(responses) }),
    ...(state !== null && { requestState: state }),
  }
}
