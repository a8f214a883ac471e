/**
 * tools.ts: provides the tools of the default agents, and the context of a call, for tests without sessions or agents.
 */

import { DEFAULT_AGENTS } from "../../worker/tool/default-agents.ts"
import { createTools } from "../../worker/tool/built-in-tools.ts"
import type { SaveAsset } from "../../worker/asset/save-options.ts"
import type { Tool, ToolContext } from "../../worker/tool/tool.ts"

const [GENERAL] = DEFAULT_AGENTS

export const PROMPT = GENERAL?.prompt ?? ""

/** Returns the general agent's tools, without any other agents to ask. */
export function generalTools(): readonly Tool[] {
  return createTools({}, GENERAL?.tools ?? [], { renameSession: async () => {}, askAgent: async () => ({}), peers: [] })
}

/** A `saveAsset` that always fails, for tools that must not store assets. */
export const saveNothing: SaveAsset = () => Promise.reject(new Error("this test stores no assets"))

export function toolContext(change: Partial<ToolContext> = {}): ToolContext {
  const { signal } = new AbortController()
  return {
    call_id: "call_1_0",
    exchange_id: "q",
    nth: 1,
    attachApp: () => {},
    card: null,
    signal,
    now: () => 0,
    saveAsset: saveNothing,
    ...change,
  }
}
