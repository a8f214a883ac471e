/**
 * advance-turn.ts: takes a turn from what is stored to its next rest: model calls, tools, questions to a person, the end.
 *
 * decide → MOVE: step, dispatch → run
 */

import { callsOf, type ToolCall } from "../../shared/protocol/message.ts"
import { argsOf } from "../tool/tool.ts"
import { askedIn, nextAct, ordinalsFor } from "./turn-recovery.ts"
import { dispatchCall } from "./dispatch-tool.ts"
import { decideCalls, failLater, finish, publish, type Run, say, toolNamed, type TurnHost } from "./turn-run.ts"
import { step } from "./model-step.ts"

/** Does what is next until the turn is over or waits for a person. */
export async function move(host: TurnHost, run: Run): Promise<void> {
  const moving = {
    isInFlight: (call_id: string) => run.inFlight.has(call_id),
    needsApproval: (call: ToolCall) => needsApproval(run, call),
  }
  for (;;) {
    if (run.failure !== null) throw run.failure
    // Whoever stopped it has written its end, or there is nothing any more that it could be written to.
    if (run.abort.signal.aborted) return
    const act = nextAct(run.recorder.message(), moving)
    switch (act.do) {
      case "rest":
        return
      case "end":
        return finish(host, run, act.status, act.reason)
      case "dispatch":
        dispatch(host, run, act.calls, act.ask)
        break
      case "step":
        await step(host, run)
        break
      case "wait":
        if (run.inFlight.size > 0) await run.bell.rung()
        // Only a person can go on with it: the turn waits in its rows, and this process may sleep.
        else if (host.store.countQueued("person") === 0) return
        // Whoever went on talking has answered what was asked.
        else decideCalls(host, run, "denied", askedIn(run.recorder.message()))
        break
    }
  }
}

/** A call whose arguments are none fails by itself: nobody has to be asked. */
function needsApproval(run: Run, call: ToolCall): boolean {
  const args = argsOf(call.args)
  return args !== null && (toolNamed(run, call.name)?.needsApproval?.(args) ?? false)
}

/** Starts the pending tools of a step, side by side, and asks about those that need leave. */
function dispatch(host: TurnHost, run: Run, calls: readonly ToolCall[], ask: readonly ToolCall[]): void {
  const { recorder } = run
  const { channel } = run
  // Only the reader's own turn counts them: elsewhere no tool learns of cards (DESIGN §8).
  const ordinals = channel === "user" ? ordinalsFor(recorder.message(), calls) : []
  for (const { call_id } of ask) recorder.feed({ type: "tool_approval", call_id, approval: "asked" })
  calls.forEach((call, i) => {
    const ephemeral = toolNamed(run, call.name)?.ephemeral ?? false
    const { call_id } = call
    recorder.feed({ type: "tool_call_start", call_id, channel, ordinal: ordinals[i] ?? null, ephemeral })
  })
  // Written before anything is run: a tool with side effects is dispatched at most once (law 8).
  publish(host, run)
  calls.forEach((call, i) => {
    run.inFlight.add(call.call_id)
    runCall(host, run, call, ordinals[i] ?? null).catch((error: unknown) => failLater(run, error))
  })
}

async function runCall(host: TurnHost, run: Run, call: ToolCall, ordinal: number | null): Promise<void> {
  const { call_id } = call
  const { channel } = run
  const message = run.recorder.message()
  const alike = callsOf(message).filter(({ name }) => name === call.name)
  const nth = alike.findIndex((one) => one.call_id === call_id) + 1
  const result = await dispatchCall({
    ...{ call, tool: toolNamed(run, call.name), ordinal, channel, signal: run.abort.signal, now: host.now },
    ...{ exchange_id: message.exchange_id, nth },
    ...{ toolMs: host.times.toolMs, log: host.log, save: host.save },
    onOutput: (delta) => say(host, run, { type: "tool_output_delta", call_id, delta }),
  })
  run.recorder.feed(result)
  publish(host, run)
  run.inFlight.delete(call_id)
  run.bell.ring()
}
