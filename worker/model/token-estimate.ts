/**
 * token-estimate.ts: how many tokens a text will be, before any model has counted it.
 *
 * An estimate: four ASCII characters a token, three bytes a token for all else (an ideograph is one). It errs by a third
 * at most on ordinary text, which is what the share that is left free (SUMMARY_FROM) is for.
 * Pure.
 */

import type { ModelFile, ModelMessage, ToolSpec } from "./model-adapter.ts"
import { tokensOfFile } from "./model-files.ts"
import { userText } from "./system-prompt.ts"

/** Twelfths of a token that the code unit at an index costs: a pair of surrogates is four bytes. */
function costAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  if (unit < 0x80) return 3
  return unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 8 : 12
}

/** Tokens of a text. One pass. */
export function tokensOf(text: string): number {
  let cost = 0
  for (let at = 0; at < text.length; at++) cost += costAt(text, at)
  return Math.ceil(cost / 12)
}

/** The head of a text that has at most so many tokens, cut between code points. */
export function headOfTokens(text: string, tokens: number): string {
  let cost = 0
  for (let at = 0; at < text.length; at++) {
    cost += costAt(text, at)
    if (cost > tokens * 12) return text.slice(0, at).replace(/[\ud800-\udbff]$/, "")
  }
  return text
}

export function tokensOfMessages(messages: readonly ModelMessage[]): number {
  let tokens = 0
  for (const message of messages) {
    switch (message.role) {
      case "user":
        tokens += tokensOf(userText(message)) + tokensOfFiles(message.files)
        break
      case "tool":
        tokens += tokensOf(message.result)
        break
      case "assistant":
        for (const piece of message.pieces) tokens += tokensOf(piece.type === "text" ? piece.text : piece.args)
    }
  }
  return tokens
}

function tokensOfFiles(files: readonly ModelFile[] = []): number {
  return files.reduce((sum, { asset, given }) => sum + (given === "whole" ? tokensOfFile(asset) : 0), 0)
}

/** What every call costs before its messages: the system prompt and the tools. */
export function tokensOfFrame(system: string, tools: readonly ToolSpec[]): number {
  return tokensOf(system) + tokensOf(JSON.stringify(tools))
}
