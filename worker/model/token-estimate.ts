/**
 * token-estimate.ts: estimates the number of tokens in text, before a model counts them. Pure.
 *
 * Four ASCII characters or three bytes of other text count as one token, so an ideograph is one token. On ordinary
 * text, the error is at most a third. SUMMARY_START_SHARE leaves room for this error.
 */

import { cutText } from "../../shared/text/cut-text.ts"
import type { ModelFile, ModelMessage, ModelRequest, ToolSpec } from "./model-adapter.ts"
import { estimateFileTokens } from "./model-files.ts"
import { formatUserMessage } from "./system-prompt.ts"

/**
 * Returns the cost of a code unit, in twelfths of a token. A surrogate pair has four bytes in UTF-8, two per code unit.
 */
function countTokenTwelfths(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  if (unit < 0x80) return 3
  return unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 8 : 12
}

export function estimateTokens(text: string): number {
  let twelfths = 0
  for (let at = 0; at < text.length; at++) twelfths += countTokenTwelfths(text, at)
  return Math.ceil(twelfths / 12)
}

/** Returns the start of the text, at most `maxTokens` long, cut between code points. */
export function truncateToTokens(text: string, maxTokens: number): string {
  let twelfths = 0
  for (let at = 0; at < text.length; at++) {
    twelfths += countTokenTwelfths(text, at)
    if (twelfths > maxTokens * 12) return cutText(text, at)
  }
  return text
}

export function estimateMessageTokens(messages: readonly ModelMessage[]): number {
  let tokens = 0
  for (const message of messages) {
    switch (message.role) {
      case "user":
        tokens += estimateTokens(formatUserMessage(message)) + sumFileTokens(message.files)
        break
      case "tool":
        tokens += estimateTokens(message.result)
        break
      case "assistant":
        for (const part of message.parts) tokens += estimateTokens(part.type === "text" ? part.text : part.args)
    }
  }
  return tokens
}

function sumFileTokens(files: readonly ModelFile[] = []): number {
  const wholeFiles = files.filter(({ inclusion }) => inclusion === "whole")
  return wholeFiles.reduce((sum, { asset }) => sum + estimateFileTokens(asset), 0)
}

/** The token count of each list of tools. The lists are long, and every turn of an agent uses the same one. */
const toolTokens = new WeakMap<readonly ToolSpec[], number>()

/**
 * Estimates the tokens that every call uses in addition to its messages, for the system prompt and the tools. Each list
 * of tools is counted once.
 */
export function estimatePromptTokens(system: string, tools: readonly ToolSpec[]): number {
  const tokens = toolTokens.get(tools) ?? estimateTokens(JSON.stringify(tools))
  toolTokens.set(tools, tokens)
  return estimateTokens(system) + tokens
}

/**
 * Estimates the tokens of one call, if its provider doesn't report them. The request's text is counted only when
 * needed.
 */
export function createTokenEstimate({ system, tools, messages }: Pick<ModelRequest, "system" | "tools" | "messages">) {
  const countInput = (): number => estimatePromptTokens(system, tools) + estimateMessageTokens(messages)
  return { countInput, countText: estimateTokens }
}
