/** plays.ts: a fixed plan that contains every model fault once, and no other faults. */

import type { RunPlan, TurnPlan } from "./plan.ts"
import { MODEL_FAULTS, type Play } from "./upstream.ts"

const WHOLE: readonly Play[] = ["words", "thought", "tools", "effects", "asks"]

/** Returns a plan with one session for each play. The sessions run in parallel, so that their timeouts overlap. */
export function everyPlay(): RunPlan {
  const sessions = [...WHOLE, ...MODEL_FAULTS].map((play) => {
    const name = `play-${play.replaceAll("_", "-")}`
    const turn: TurnPlan = {
      id: `${name}-0`,
      content: `play ${play} ${name}-0`,
      via: "socket",
      patient: true,
      fault: { kind: "repeat", via: "http" },
      moment: { at: "ended" },
      approval: { decision: "allow", tab: 0, afterMs: 0, disputed: false },
    }
    // Each session has only one client, because all sessions begin at once and the model's time limits are short.
    return { name, tabs: 1, isObserved: false, turns: [turn] }
  })
  return { seed: 1, model: "upstream", contextTokens: null, sessions }
}
