/**
 * message-search.ts: searches the active path of one session, in the session's own object. Also finds messages that the
 * page has not loaded.
 */

import type { MessageHit } from "../../shared/protocol/http-body.ts"
import type { FoundMessages, MessageQuery } from "../platform/rpc/search-types.ts"
import { parseSearchQuery } from "./search-query.ts"
import { createSnippet, hasAllPhrases } from "./snippet.ts"
import type { PathReader } from "./finished-tip.ts"
import { countStoredChars, toMessageText } from "./turn-texts.ts"
import { listWords } from "./word-list.ts"

/**
 * Maximum number of messages and stored characters that one request reads; the last message may exceed the limit. If
 * they do not contain a full page of hits, the next request continues the search.
 */
const MAX_SCANNED_MESSAGES = 1_000
const MAX_SCANNED_CHARS = 2 * 1024 * 1024

/** Returns hits, newest first. Null if the query has no words, or too many. Cost: the rows of the messages read. */
export function searchMessages(
  store: Pick<PathReader, "readTip" | "isOnPath" | "findMessageAt">,
  { text, limit, before }: MessageQuery,
): FoundMessages | null {
  const phrases = parseSearchQuery(text)
  if (phrases === null) return null
  const hits: MessageHit[] = []
  let chars = 0
  let last = before
  for (let pos = findStart(store, before), count = 0; pos !== null; count++) {
    const isFull = count >= MAX_SCANNED_MESSAGES || chars > MAX_SCANNED_CHARS || hits.length >= limit
    if (isFull) return { hits, next: last }
    const stored = store.findMessageAt(pos)
    if (stored === null) break
    const message = toMessageText(stored.message)
    chars += countStoredChars(stored.message)
    if (hasAllPhrases(listWords(message.text), phrases)) {
      const { id, role, at } = message
      hits.push({ message: id, role, at, snippet: createSnippet(message.text, phrases).parts })
    }
    last = pos
    pos = stored.parent
  }
  return { hits, next: null }
}

/**
 * Returns the position at which the search begins. Null if nothing precedes `before`, or if `before` is no longer on
 * the active path.
 */
function findStart(
  store: Pick<PathReader, "readTip" | "isOnPath" | "findMessageAt">,
  before: number | null,
): number | null {
  if (before === null) return store.readTip()
  return store.isOnPath(before) ? (store.findMessageAt(before)?.parent ?? null) : null
}
