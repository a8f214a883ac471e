/** script.ts: messages that make the scripted model think, write and call tools in a random order. */

import type { Chance } from "./chance.ts"

type Event =
  | { readonly type: "text_delta" | "thinking_delta"; readonly delta: string }
  | { readonly type: "tool_call"; readonly name: string; readonly args: string }
  | { readonly type: "pause"; readonly ms: number }

/**
 * Returns a `/script` message with one or two steps that call tools, and then a step with text. With `asks`, one call
 * needs approval.
 */
export function scriptWords(chance: Chance, id: string, asks: boolean): string {
  const steps: Event[][] = []
  const withTools = asks ? 1 : chance.between(1, 2)
  for (let step = 0; step < withTools; step++) {
    const calls = Array.from({ length: chance.between(1, 3) }, (_, at) => toolCall(chance, `${id}-${step}-${at}`))
    if (asks) calls.push(createCall("probe_ask", { key: `${id}-ask`, ms: chance.int(40) }))
    steps.push([...createThoughts(chance, id), ...createSpeech(chance, `${id}-${step}`), ...calls])
  }
  steps.push(createSpeech(chance, `${id}-last`))
  return `/script ${JSON.stringify(steps)}`
}

/** Returns a message that asks another agent, whose answer arrives after the turn has ended. */
export function laterWords(chance: Chance, id: string): string {
  return askLater(chance.between(20, 500), id, createSpeech(chance, id))
}

/**
 * Like `laterWords`, but with the given events first. The other agent works for `ms` milliseconds. Its answer is short,
 * because other turns may be waiting.
 */
export function askLater(ms: number, id: string, before: readonly Event[] = []): string {
  const research = [[createCall("probe_slow", { ms })], [{ type: "text_delta", delta: `${id}-there` }]]
  const question = { agent: "researcher", mode: "async", message: `/script ${JSON.stringify(research)}` }
  const last: Event = { type: "text_delta", delta: `${id}-last` }
  return `/script ${JSON.stringify([[...before, createCall("agents_message", question)], [last]])}`
}

function toolCall(chance: Chance, key: string): Event {
  switch (chance.int(7)) {
    case 0:
      return createCall("probe_stream", { lines: chance.between(3, 20), ms: 5 })
    case 1:
      return createCall("probe_slow", { ms: chance.between(5, 200) })
    case 2:
      return createCall("probe_fail", { how: chance.pick(["throw", "error"]) })
    case 3: {
      // The call runs in another object. A kill stops that object too, and the call is then repeated.
      const steps = [[createCall("probe_slow", { ms: chance.between(5, 150) })], createSpeech(chance, `${key}-there`)]
      return createCall("agents_message", { agent: "researcher", message: `/script ${JSON.stringify(steps)}` })
    }
    default:
      // Calls with side effects are the most frequent, because they must happen at most once.
      return createCall("probe_effect", { key, ms: chance.between(0, 150) })
  }
}

function createCall(name: string, args: Record<string, string | number>): Event {
  return { type: "tool_call", name, args: JSON.stringify(args) }
}

function createSpeech(chance: Chance, id: string): Event[] {
  const words = Array.from({ length: chance.between(5, 25) }, (_, at): Event[] => [
    { type: "text_delta", delta: `${id}-${at} ` },
    { type: "pause", ms: chance.between(1, 25) },
  ])
  return words.flat()
}

function createThoughts(chance: Chance, id: string): Event[] {
  if (chance.odds(0.5)) return []
  const words = Array.from({ length: chance.between(2, 10) }, (_, at): Event => {
    return { type: "thinking_delta", delta: `thought ${id} ${at} ` }
  })
  return [...words, { type: "pause", ms: chance.between(1, 120) }]
}
