/**
 * openai-prompt.ts: our messages and tools in the words of the provider package.
 *
 * Files that are given whole are loaded here, one after the other, and stand behind the words that name them.
 */

import type { JSONSchema7, LanguageModelV4FunctionTool, LanguageModelV4Prompt } from "@ai-sdk/provider"
import type { Asset } from "../../shared/protocol/event.ts"
import { parseJson } from "../../shared/protocol/frame.ts"
import type { AssistantPiece, ModelMessage, ModelRequest, ToolSpec } from "./model-adapter.ts"
import { fileKindOf, loadedBytes } from "./model-files.ts"
import { fileText, userText } from "./system-prompt.ts"

type Load = NonNullable<ModelRequest["load"]>

/** System prompt and context, oldest first. Each result goes back under the id of its call. */
export async function promptOf({
  system,
  messages,
  load = async () => null,
}: Pick<ModelRequest, "system" | "messages" | "load">): Promise<LanguageModelV4Prompt> {
  const prompt: LanguageModelV4Prompt = [{ role: "system", content: system }]
  for (const message of messages) prompt.push(await messageOf(message, load))
  return prompt
}

async function messageOf(message: ModelMessage, load: Load): Promise<LanguageModelV4Prompt[number]> {
  switch (message.role) {
    case "user": {
      const content: UserPart[] = [{ type: "text", text: userText(message) }]
      for (const { asset, given } of message.files ?? []) {
        if (given === "whole") content.push(await filePart(asset, load))
      }
      return { role: "user", content }
    }
    case "assistant":
      return { role: "assistant", content: message.pieces.map(pieceOf) }
    case "tool": {
      const { call_id: toolCallId, name: toolName, result: value, ok } = message
      const output = ok ? ({ type: "text", value } as const) : ({ type: "error-text", value } as const)
      return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] }
    }
  }
}

type UserPart = Extract<LanguageModelV4Prompt[number], { role: "user" }>["content"][number]

async function filePart(asset: Asset, load: Load): Promise<UserPart> {
  const kind = fileKindOf(asset)
  const data = await load(asset.id, loadedBytes(asset))
  const filename = asset.label
  if (kind === null || data === null) return { type: "text", text: `[${fileText(asset)} could not be read.]` }
  if (kind !== "text") return { type: "file", mediaType: asset.mime_type, filename, data: { type: "data", data } }
  const rest = asset.size - data.byteLength
  const note = rest > 0 ? `\n[${rest} more bytes are left out here]` : ""
  // A letter that the cut took in two is lost with it.
  const text = new TextDecoder().decode(data)
  return { type: "text", text: `[Text of ${fileText(asset)}:]\n${text}${note}\n[End of that file.]` }
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
