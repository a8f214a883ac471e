/** agents.ts: helpers for the agent tests: scripted questions, results, and the turn after a callback. */

import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import type { TestClient } from "../support/socket.ts"
import { call, freshSession, toolsIn } from "./session-helpers.ts"

/** Creates a session under an id that no other test uses. */
export const freshAsker = (): Promise<string> => freshSession("ag")

export const askAgent = (agent: string, message: string, mode: "sync" | "async" = "sync"): object =>
  call("agents_message", { agent, message, mode })

/** Sends a question and waits for the end of its answer. */
export async function askFor(client: TestClient, id: string, content: string): Promise<WireMessage> {
  client.say({ type: "send", id, content })
  return await client.untilEnd(id)
}

/** Returns the results of the calls to other agents. */
export function resultsIn(message: WireMessage | undefined): Record<string, string>[] {
  return toolsIn(message).map((tool) => JSON.parse(tool.result ?? "{}"))
}

export function describeMessage({ role, agent, status }: WireMessage): string {
  return [role, status, agent === undefined ? "" : `${agent.direction} ${agent.name}`].join(" ").trim()
}

/** Returns the answer of the turn that a callback begins. */
export async function followUp(client: TestClient): Promise<WireMessage> {
  const agentMessage = (): WireMessage | undefined => [...client.messages.values()].find(({ role }) => role === "agent")
  await client.untilTrue(() => agentMessage() !== undefined)
  return await client.untilEnd(agentMessage()?.exchange_id ?? "")
}
