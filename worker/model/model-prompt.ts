/**
 * model-prompt.ts: converts messages and tools to the types of the provider package.
 *
 * Files that are included whole are loaded here, one at a time, and follow the text that names them.
 */

import type { JSONSchema7, LanguageModelV4FunctionTool, LanguageModelV4Prompt } from "@ai-sdk/provider"
import type { Asset } from "../../shared/protocol/event.ts"
import { parseJson } from "../../shared/json.ts"
import type { AssistantPart, ModelMessage, ModelRequest, ToolSpec } from "./model-adapter.ts"
import { getFileKind, getLoadedBytes } from "./model-files.ts"
import { addState } from "./provider-state.ts"
import { describeFile, formatUserMessage } from "./system-prompt.ts"

type LoadFile = NonNullable<ModelRequest["load"]>

/**
 * Creates the prompt: the system prompt, then the messages, oldest first. `model` receives back the states that it
 * returned. Each tool result contains the id of its call.
 */
export async function createPrompt(
  { system, messages, load = async () => null }: Pick<ModelRequest, "system" | "messages" | "load">,
  model: string,
): Promise<LanguageModelV4Prompt> {
  const prompt: LanguageModelV4Prompt = [{ role: "system", content: system }]
  for (const message of messages) prompt.push(await messageToPrompt(message, load, model))
  return prompt
}

async function messageToPrompt(
  message: ModelMessage,
  loadFile: LoadFile,
  model: string,
): Promise<LanguageModelV4Prompt[number]> {
  switch (message.role) {
    case "user": {
      const content: UserPromptPart[] = [{ type: "text", text: formatUserMessage(message) }]
      for (const { asset, inclusion } of message.files ?? []) {
        if (inclusion === "whole") content.push(await createFilePart(asset, loadFile))
      }
      return { role: "user", content }
    }
    case "assistant":
      return { role: "assistant", content: answerToPrompt(message, model) }
    case "tool": {
      const { call_id: toolCallId, name: toolName, result: value, ok } = message
      const output = ok ? ({ type: "text", value } as const) : ({ type: "error-text", value } as const)
      return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] }
    }
  }
}

function answerToPrompt({ parts, state }: Extract<ModelMessage, { role: "assistant" }>, model: string) {
  const content = parts.map(partToPrompt)
  return state?.model === model ? addState(content, state.data) : content
}

type UserPromptPart = Extract<LanguageModelV4Prompt[number], { role: "user" }>["content"][number]

async function createFilePart(asset: Asset, loadFile: LoadFile): Promise<UserPromptPart> {
  const kind = getFileKind(asset)
  const data = await loadFile(asset.id, getLoadedBytes(asset))
  const filename = asset.label
  if (kind === null || data === null) return { type: "text", text: `[${describeFile(asset)} could not be read.]` }
  if (kind !== "text") return { type: "file", mediaType: asset.mime_type, filename, data: { type: "data", data } }
  const omittedBytes = asset.size - data.byteLength
  const note = omittedBytes > 0 ? `\n[${omittedBytes} more bytes omitted]` : ""
  // A character that the cut splits becomes U+FFFD.
  const text = new TextDecoder().decode(data)
  return { type: "text", text: `[Text of ${describeFile(asset)}:]\n${text}${note}\n[End of file.]` }
}

type AssistantPromptPart = Extract<LanguageModelV4Prompt[number], { role: "assistant" }>["content"][number]

function partToPrompt(part: AssistantPart): AssistantPromptPart {
  if (part.type === "text") return { type: "text", text: part.text }
  return { type: "tool-call", toolCallId: part.call_id, toolName: part.name, input: argsToToolInput(part.args) }
}

/**
 * Converts arguments to an object. Endpoints refuse arguments that aren't an object, so anything else is wrapped in
 * one.
 */
function argsToToolInput(args: string): unknown {
  if (args.trim() === "") return {}
  const value = parseJson(args)
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
  return isObject ? args : { unreadable: args }
}

export function toolSpecsToFunctions(tools: readonly ToolSpec[]): LanguageModelV4FunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    name,
    description,
    // The schemas are our own, and the package passes them on unchanged.
    inputSchema: parameters as JSONSchema7,
  }))
}
