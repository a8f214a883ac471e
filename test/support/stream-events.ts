/** stream-events.ts: generates a producer's event streams for property tests. */

import fc from "fast-check"
import type { Asset, TurnEvent } from "../../shared/protocol/event.ts"

/** Generates events in any order: calls can overlap, results can be late or missing, and the end can be anywhere. */
export const eventArb: fc.Arbitrary<TurnEvent> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("text_delta" as const),
      delta: fc.string({ unit: wordArb(), maxLength: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("thinking_delta" as const),
      delta: fc.string({ unit: wordArb(), maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: "text_done" } as const) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("thinking_done" as const), ms: fc.nat(9_999) }) },
  { weight: 1, arbitrary: fc.constant({ type: "step_start" } as const) },
  { weight: 2, arbitrary: callArb((call_id) => ({ type: "tool_call", call_id, name: "weather", args: "{}" })) },
  {
    weight: 2,
    arbitrary: callArb((call_id, n) => ({ type: "tool_call_start", call_id, channel: "user", ordinal: n + 1 })),
  },
  {
    weight: 1,
    arbitrary: callArb((call_id, n) => ({
      type: "tool_approval",
      call_id,
      approval: (["asked", "allowed", "denied"] as const)[n] ?? "asked",
    })),
  },
  { weight: 2, arbitrary: callArb((call_id) => ({ type: "tool_output_delta", call_id, delta: "out\n" })) },
  { weight: 2, arbitrary: callArb((call_id, n) => resultEvent(call_id, n)) },
  { weight: 1, arbitrary: endArb() },
)

/** Like `eventArb`, but also generates directives that need a grant, and calls that add media to the answer. */
export const grantEventArb: fc.Arbitrary<TurnEvent> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("text_delta" as const),
      delta: fc.array(fc.oneof(directiveArb(), wordArb()), { maxLength: 5 }).map((words) => words.join("")),
    }),
  },
  { weight: 2, arbitrary: callArb((call_id, n) => ({ ...resultEvent(call_id, 0), media: MEDIA.slice(0, n) })) },
  { weight: 6, arbitrary: eventArb },
)

/** The assets that calls in these streams have stored. */
const MEDIA: readonly Asset[] = [
  { id: "t1", kind: "image", mime_type: "image/png", label: "t1.png", size: 1 },
  { id: "s2", kind: "audio", mime_type: "audio/wav", label: "s2.wav", size: 2, voice: true },
]

function directiveArb(): fc.Arbitrary<string> {
  return fc.constantFrom(
    "MEDIA:",
    "\nMEDIA: /media/p1\n",
    "\nMEDIA: /media/s2",
    "\nmedia: /media/t1 /media/p3\n",
    " `/media/p2`",
    "\nMEDIA: https://a.com/x.png\n",
    "[[reply_to:m1]]",
    "[[reply_to: m2 ]]",
    "[[reply_to_current]]",
    "[[audio_as_voice]]",
    "[embed url='https://ok.com/a' /]",
    "[embed url='https://o2.com/' title='t' /]",
    "[embed ref='cv' /]",
    "\n",
  )
}

function wordArb(): fc.Arbitrary<string> {
  return fc.constantFrom(
    "a",
    " ",
    "\n\n",
    "<",
    "<b>",
    "`",
    "<span id='weather_1'>",
    "</span>",
    "é",
    "😀",
    "x".repeat(40),
  )
}

function callArb(make: (call_id: string, n: number) => TurnEvent): fc.Arbitrary<TurnEvent> {
  return fc.tuple(fc.constantFrom("c0", "c1", "c2"), fc.nat(2)).map(([call_id, n]) => make(call_id, n))
}

function resultEvent(call_id: string, n: number): TurnEvent {
  const [status, error] =
    n === 0 ? (["ok", null] as const) : (["failed", { code: "tool_failed", message: "no" }] as const)
  return { type: "tool_result", call_id, status, result: '{"t":9}', card: n === 0 ? "weather_1" : null, error }
}

function endArb(): fc.Arbitrary<TurnEvent> {
  const status = fc.constantFrom("completed" as const, "cancelled" as const, "interrupted" as const, "failed" as const)
  return status.map((one) => ({
    type: "end",
    status: one,
    reason: one === "failed" ? "model_cut_off" : null,
    metrics: null,
  }))
}

/**
 * Cuts each delta in two at a position that depends on `at`, so that some cuts are inside a tag, a fence or a surrogate
 * pair.
 */
export function cutDeltas(events: readonly TurnEvent[], at: number): TurnEvent[] {
  return events.flatMap((event, i) => {
    if (!("delta" in event) || event.delta.length < 2) return [event]
    const cut = 1 + ((at + i * 7) % (event.delta.length - 1))
    return [
      { ...event, delta: event.delta.slice(0, cut) },
      { ...event, delta: event.delta.slice(cut) },
    ]
  })
}
