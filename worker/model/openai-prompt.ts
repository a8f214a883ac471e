/**
 * openai-prompt.ts: our messages and tools in the words of the provider package.
 *
 * Pure.
 */

import type { JSONSchema7, LanguageModelV4FunctionTool, LanguageModelV4Prompt } from "@ai-sdk/provider"
import { parseJson } from "../../shared/frame.ts"
import type { AssistantPiece, ModelMessage, ToolSpec } from "./adapter.ts"
import { userText } from "./prompt.ts"

/** System prompt and context, oldest first. Each result goes back under the id of its call. */
export function promptOf(system: string, messages: readonly ModelMessage[]): LanguageModelV4Prompt {
  return [{ role: "system", content: system }, ...messages.map(messageOf)]
}

function messageOf(message: ModelMessage): LanguageModelV4Prompt[number] {
  switch (message.role) {
    case "user":
      return { role: "user", content: [{ type: "text", text: userText(message) }] }
    case "assistant":
      return { role: "assistant", content: message.pieces.map(pieceOf) }
    case "tool": {
      const { call_id: toolCallId, name: toolName, result: value, ok } = message
      const output = ok ? ({ type: "text", value } as const) : ({ type: "error-text", value } as const)
      return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] }
    }
  }
}

type Piece = Extract<LanguageModelV4Prompt[number], { role: "assistant" }>["content"][number]

function pieceOf(piece: AssistantPiece): Piece {
  if (piece.type === "text") return { type: "text", text: piece.text }
  return { type: "tool-call", toolCallId: piece.call_id, toolName: piece.name, input: inputOf(piece.args) }
}

/** Endpoints take arguments apart before the model sees them, and fail on what is no object: such text goes back inside one. */
function inputOf(args: string): unknown {
  if (args.trim() === "") return {}
  const value = parseJson(args)
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
  return isObject ? args : { unreadable: args }
}

export function toolsOf(tools: readonly ToolSpec[]): LanguageModelV4FunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    name,
    description,
    // Our own schemas, written by hand; the package only passes them on.
    inputSchema: parameters as JSONSchema7,
  }))
}
