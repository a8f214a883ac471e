/**
 * producer.ts: an external producer, which streams numbered records in a request body and continues after each broken
 * connection.
 *
 * turn → records → POST …/external/sessions/:id/events, through the proxy of the first tab
 */

import type { TurnPlan } from "./plan.ts"
import type { StoredSession } from "./rows.ts"
import { type Host, RETRY_MS, recordRefusal, type TestSession, tabOf } from "./test-session.ts"
import { clipText, type Violation } from "./violation.ts"

/**
 * How long the producer tries to finish an answer, in milliseconds. After that, the server ends the answer, because
 * no more records arrive.
 */
const PRODUCE_MS = 9_000
/** Timeout of a single request, in milliseconds. A blackholed connection reports no error. */
const REQUEST_MS = 2_500
/** Pause between two records, in milliseconds. */
const DRIP_MS = 10

type ProducedTurn = Pick<TurnPlan, "id" | "content">

interface ProducerState {
  readonly n?: number
  readonly status?: string
  readonly code?: string
}

/** Returns the content of a turn whose answer has this many words. */
export function produceWords(count: number): string {
  return `produce ${count}`
}

/** Returns the text of an external answer, and its records: words with a tool call between them. */
function recordsOf({ id, content }: ProducedTurn): { readonly text: string; readonly lines: readonly string[] } {
  const count = Number(/^produce (\d+)/.exec(content)?.[1])
  const words = Array.from({ length: count }, (_, at) => ({ type: "text_delta", delta: `${id}-p${at} ` }))
  const tool = [
    { type: "tool_call_start", callId: "c1", toolName: "Bash", arguments: "{}" },
    { type: "tool_output_delta", callId: "c1", delta: "working\n" },
    { type: "tool_result", callId: "c1", ok: true, result: "done" },
  ]
  const half = Math.floor(count / 2)
  const records = [...words.slice(0, half), ...tool, ...words.slice(half), { type: "assistant_message", text: "" }]
  const text = words.map(({ delta }) => delta).join("")
  return { text, lines: records.map((record, at) => `${JSON.stringify({ ...record, responseId: id, n: at + 1 })}\n`) }
}

/**
 * Sends an answer as a careful producer would, with retries until the answer has ended. Waits while another answer is
 * running.
 */
export async function produceAnswer(host: Host, session: TestSession, turn: ProducedTurn): Promise<void> {
  const { id } = turn
  const { lines } = recordsOf(turn)
  const late = performance.now() + PRODUCE_MS
  let accepted = 0
  while (performance.now() < late) {
    const state = (await postRecords(host, session, id, lines.slice(accepted))) ?? (await readState(host, session, id))
    if (state !== null && isFinal(state)) {
      session.produced.set(id, state.status ?? null)
      session.ledger.get(id)?.acks.push(state.n ?? 0)
      return
    }
    if (state?.n !== undefined) accepted = state.n
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
  // The session was busy throughout.
  if ((await readState(host, session, id))?.code === "turn_unknown") recordRefusal(session.ledger, id, "turn_running")
}

/** Sends all records again. Records that the server has already accepted must not take effect twice. */
export async function repeatRecords(host: Host, session: TestSession, turn: ProducedTurn): Promise<void> {
  await postRecords(host, session, turn.id, recordsOf(turn).lines)
}

function isFinal({ status, code }: ProducerState): boolean {
  return code === "turn_ended" || (status !== undefined && status !== "running" && status !== "waiting")
}

/** Sends records. Returns the response, or null if none arrived. */
async function postRecords(
  host: Host,
  session: TestSession,
  id: string,
  lines: readonly string[],
): Promise<ProducerState | null> {
  const chunks = [...lines]
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const line = chunks.shift()
      if (line === undefined) return controller.close()
      await new Promise((resolve) => setTimeout(resolve, DRIP_MS))
      controller.enqueue(new TextEncoder().encode(line))
    },
  })
  return await requestAnswer(host, session, `?responseId=${id}`, {
    method: "POST",
    body,
    duplex: "half",
  } as RequestInit)
}

function readState(host: Host, session: TestSession, id: string): Promise<ProducerState | null> {
  return requestAnswer(host, session, `?responseId=${id}`, {})
}

async function requestAnswer(
  host: Host,
  session: TestSession,
  query: string,
  init: RequestInit,
): Promise<ProducerState | null> {
  const { port } = tabOf(session, 0).proxy
  try {
    const headers = { authorization: `Bearer ${await host.server.externalToken(session.id)}` }
    const signal = AbortSignal.timeout(REQUEST_MS)
    const path = `http://127.0.0.1:${port}/external/sessions/${session.id}/events${query}`
    return (await (await fetch(path, { ...init, headers, signal })).json()) as ProducerState
  } catch {
    return null
  }
}

/**
 * Finds answers in which a record did not take effect exactly once: the stored text must be a prefix of the producer's
 * text, and equal to it if the answer is complete.
 */
export function findProducerViolations({ plan, produced }: TestSession, { all }: StoredSession): Violation[] {
  return plan.turns.flatMap((turn): Violation[] => {
    const { id, via } = turn
    const answer = via === "producer" ? all.find((message) => message.id === id) : undefined
    if (answer === undefined) return []
    const report = (detail: string): Violation => ({ rule: "records_once", session: plan.name, detail })
    const whole = recordsOf(turn).text
    const text = answer.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
    const calls = answer.parts.filter(({ type }) => type === "tool_call").length
    const reported = produced.get(id) ?? null
    if (!whole.startsWith(text) || calls > 1) return [report(`${id} holds ${calls} calls and ${clipText(text)}`)]
    if (answer.status === "completed" && text !== whole)
      return [report(`${id} is complete, but contains ${clipText(text)}`)]
    if (reported !== null && reported !== answer.status)
      return [report(`${id} was reported as ${reported}, but is ${answer.status}`)]
    return []
  })
}
