/**
 * token-estimate.ts: how many tokens a text will be, before any model has counted it.
 *
 * An estimate: four ASCII characters a token, three bytes a token for all else (an ideograph is one). It errs by a third
 * at most on ordinary text, which is what the share that is left free (SUMMARY_START_SHARE) is for.
 * Pure.
 */

import type { ModelFile, ModelMessage, ToolSpec } from "./model-adapter.ts"
import { estimateFileTokens } from "./model-files.ts"
import { formatUserMessage } from "./system-prompt.ts"

/** Twelfths of a token that the code unit at an index costs: a pair of surrogates is four bytes. */
function countTokenTwelfths(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  if (unit < 0x80) return 3
  return unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 8 : 12
}

/** Tokens of a text. One pass. */
export function estimateTokens(text: string): number {
  let twelfths = 0
  for (let at = 0; at < text.length; at++) twelfths += countTokenTwelfths(text, at)
  return Math.ceil(twelfths / 12)
}

/** The head of a text that has at most so many tokens, cut between code points. */
export function truncateToTokens(text: string, maxTokens: number): string {
  let twelfths = 0
  for (let at = 0; at < text.length; at++) {
    twelfths += countTokenTwelfths(text, at)
    if (twelfths > maxTokens * 12) return text.slice(0, at).replace(/[\ud800-\udbff]$/, "")
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
        for (const piece of message.parts) tokens += estimateTokens(piece.type === "text" ? piece.text : piece.args)
    }
  }
  return tokens
}

function sumFileTokens(files: readonly ModelFile[] = []): number {
  return files.reduce(
    (sum, { asset, inclusion: given }) => sum + (given === "whole" ? estimateFileTokens(asset) : 0),
    0,
  )
}

/** What every call costs before its messages: the system prompt and the tools. */
export function estimatePromptTokens(system: string, tools: readonly ToolSpec[]): number {
  return estimateTokens(system) + estimateTokens(JSON.stringify(tools))
}
