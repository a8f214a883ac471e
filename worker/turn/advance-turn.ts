/**
 * advance-turn.ts: runs a turn until it ends or has to wait for the user: model calls, tool calls, approvals.
 *
 * next-action.ts → ADVANCE → model step, tool calls, end
 */

import { listCalls, type ToolCall } from "../../shared/protocol/message.ts"
import { createCallId } from "../platform/call-id.ts"
import { parseToolArgs, type Tool } from "../tool/tool.ts"
import { describeToolCall, describeTurn, describeTurnState } from "../telemetry/genai-attributes.ts"
import { dispatchCall, type ToolDispatch } from "./dispatch-tool.ts"
import { dismissWaiting } from "./approvals.ts"
import {
  applyEvents,
  recordFailure,
  finishRun,
  publishChanges,
  schedulePublishSoon,
  type TurnRun,
  feedEvent,
  findTool,
  type TurnHost,
} from "./turn-run.ts"
import { runStep } from "./model-step.ts"
import { assignOrdinals, decideNextAction } from "./next-action.ts"

/** Advances a turn in its own span. A turn that waits for the user gets a new span each time it continues. */
export async function advanceInSpan(host: TurnHost, run: TurnRun): Promise<void> {
  const root = run.span
  const { tenant, session } = host.telemetry
  const describeSpan = () => describeTurn({ tenant, session, agent: run.agent.name }, run.recorder.currentMessage())
  await root.run("invoke_agent", describeSpan, async (span) => {
    run.span = span
    await advanceTurn(host, run).finally(() => {
      run.span = root
      span.set(() => {
        const written = host.store.countRows().written - run.rowsBefore.written
        return describeTurnState(run.recorder.currentMessage(), written, run.recorder.drift.length)
      })
    })
  })
}

/** Performs the turn's next actions until it ends or waits for the user. */
export async function advanceTurn(host: TurnHost, run: TurnRun): Promise<void> {
  const processState = {
    isInFlight: (call_id: string) => run.inFlight.has(call_id),
    needsApproval: (call: ToolCall) => needsApproval(host, run, call) && !host.store.toolGrants.has(call.name),
  }
  for (;;) {
    if (run.failure !== null) throw run.failure
    // The code that aborted the run has already written the run's end, or the session has been erased.
    if (run.abort.signal.aborted) return
    recordFirstCall(run)
    const action = decideNextAction(run.recorder.currentMessage(), processState)
    switch (action.do) {
      case "rest":
        return
      case "end":
        return finishRun(host, run, action.status, action.reason)
      case "dispatch":
        dispatchCalls(host, run, action.calls, action.toApprove)
        break
      case "step":
        await runStep(host, run)
        break
      case "wait":
        if (run.inFlight.size > 0) await run.notifier.waitForNotify()
        // Only the user can continue the turn. The turn is stored, so this process may sleep.
        else if (host.store.countQueued("person") === 0) return
        // By sending another message instead, the user has declined.
        else applyEvents(host, run, dismissWaiting(host, run.recorder.currentMessage()))
        break
    }
  }
}

/**
 * Records the call that a click makes. After that, the call is dispatched like one that the model makes. If the process
 * restarts before the call is stored, the call is recorded again.
 */
function recordFirstCall(run: TurnRun): void {
  const { firstCall, recorder } = run
  if (firstCall === null) return
  run.firstCall = null
  recorder.feed({ type: "step_start" })
  recorder.feed({ type: "tool_call", call_id: createCallId(recorder.pos, 0), ...firstCall })
}

/** Whether a call needs approval. A call with invalid arguments needs none, because it fails anyway. */
function needsApproval({ store }: TurnHost, run: TurnRun, call: ToolCall): boolean {
  const args = parseToolArgs(call.args)
  return args !== null && (findTool(run, call.name)?.needsApproval?.(args, store.knownUrls) ?? false)
}

/** Starts the pending calls of a step in parallel, and requests approval for those that need it. */
function dispatchCalls(host: TurnHost, run: TurnRun, calls: readonly ToolCall[], toApprove: readonly ToolCall[]): void {
  const { recorder, channel } = run
  // Ordinals exist only on the user's channel. On the others, tools get no card tags (SPEC TU2).
  const ordinals = channel === "user" ? assignOrdinals(recorder.currentMessage(), calls) : []
  for (const { call_id } of toApprove) recorder.feed({ type: "tool_approval", call_id, approval: "asked" })
  for (const call of calls) {
    // The user has allowed all calls of this tool here (SPEC AP8). The call is shown as allowed.
    if (call.approval !== null || !needsApproval(host, run, call)) continue
    for (const approval of ["asked", "allowed"] as const)
      recorder.feed({ type: "tool_approval", call_id: call.call_id, approval })
  }
  calls.forEach((call, i) => {
    const ephemeral = findTool(run, call.name)?.ephemeral ?? false
    const { call_id } = call
    recorder.feed({ type: "tool_call_start", call_id, channel, ordinal: ordinals[i] ?? null, ephemeral })
  })
  const readsOnly = ({ name }: ToolCall): boolean => findTool(run, name)?.readsOnly ?? false
  // A call without effects is written with its result if the result comes at once, which saves a row.
  if (toApprove.length === 0 && calls.every(readsOnly)) schedulePublishSoon(host, run)
  // Any other call is written before it runs, so that a tool with side effects runs at most once, even across a
  // restart.
  else publishChanges(host, run)
  calls.forEach((call, i) => {
    run.inFlight.add(call.call_id)
    runCall(host, run, call, ordinals[i] ?? null).catch((error: unknown) => recordFailure(run, error))
  })
}

async function runCall(host: TurnHost, run: TurnRun, call: ToolCall, ordinal: number | null): Promise<void> {
  const { call_id } = call
  const tool = findTool(run, call.name)
  const dispatch = describeDispatch(host, run, call, ordinal, tool)
  const result = await run.span.run(
    "execute_tool",
    () => describeToolCall(tool?.name, call_id),
    async (span) => {
      const settled = await dispatchCall(dispatch)
      if (settled.type === "tool_result" && settled.error !== null) span.fail(settled.error.code)
      return settled
    },
  )
  run.recorder.feed(result)
  publishChanges(host, run)
  run.inFlight.delete(call_id)
  run.notifier.notify()
}

function describeDispatch(
  host: TurnHost,
  run: TurnRun,
  call: ToolCall,
  ordinal: number | null,
  tool: Tool | undefined,
): ToolDispatch {
  const { call_id } = call
  const message = run.recorder.currentMessage()
  const sameToolCalls = listCalls(message).filter(({ name }) => name === call.name)
  return {
    call,
    tool,
    ordinal,
    channel: run.channel,
    signal: run.abort.signal,
    now: host.now,
    exchange_id: message.exchange_id,
    trace: message.trace,
    nth: sameToolCalls.findIndex(({ call_id: id }) => id === call_id) + 1,
    toolMs: host.times.toolMs,
    log: host.log,
    findCard: host.findCard,
    saveAsset: host.saveAsset,
    onOutput: (delta) => feedEvent(host, run, { type: "tool_output_delta", call_id, delta }),
  }
}
