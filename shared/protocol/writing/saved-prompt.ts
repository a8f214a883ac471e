/** saved-prompt.ts: a user's saved prompts: their parser and the HTTP bodies that contain them. Source: SPEC WR20. */

import * as v from "valibot"
import { countUtf8Bytes } from "../../truncate.ts"

/** Maximum number of prompts per user. The menu shows all of them. */
export const MAX_PROMPTS = 100

/** Maximum length of a prompt's name, in UTF-16 code units: one line of the menu. */
export const MAX_PROMPT_NAME_CHARS = 60

/** Maximum length of a prompt's text, in UTF-8 bytes. */
export const MAX_PROMPT_BYTES = 4_096

/** The body of a request that stores a prompt. */
export const promptInputSchema = v.object({
  name: v.pipe(
    v.string(),
    v.maxLength(MAX_PROMPT_NAME_CHARS),
    v.check((name) => name.trim() !== ""),
  ),
  text: v.pipe(
    v.string(),
    v.check((text) => countUtf8Bytes(text) <= MAX_PROMPT_BYTES),
    v.check((text) => text.trim() !== ""),
  ),
})

export type PromptInput = v.InferOutput<typeof promptInputSchema>

/** A stored prompt. `changed`: when it was last changed, in milliseconds since 1970. */
export interface SavedPrompt extends PromptInput {
  readonly id: string
  readonly changed: number
}

/** The response to `GET /v1/prompts`. */
export interface PromptList {
  /** Sorted by name. */
  readonly prompts: readonly SavedPrompt[]
}
