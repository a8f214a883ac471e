/**
 * fault-words.ts: words the server's errors in a language other than English, by their code. Source: SPEC LG4.
 */

import type { FaultFields, FaultReason } from "../../../shared/fault.ts"
import { formatCount } from "../format/number-format.ts"
import { formatSeconds } from "../format/plural.ts"
import { formatSize } from "../format/file-size.ts"

/** The errors that a person can meet on the chat page. Others keep the server's text. */
type PageFault = Extract<
  FaultReason,
  | "message_empty"
  | "message_too_large"
  | "attachment_unknown"
  | "file_gone"
  | "attachments_too_many"
  | "queue_full"
  | "context_exceeded"
  | "turn_unknown"
  | "turn_ended"
  | "turn_running"
  | "turn_whole"
  | "call_decided"
  | "message_unknown"
  | "message_begun"
  | "version_unknown"
  | "token_expired"
  | "scope_denied"
  | "share_unknown"
  | "share_links_full"
  | "share_too_large"
  | "viewers_full"
  | "shares_full"
  | "user_suspended"
  | "user_erased"
  | "user_unknown"
  | "session_unknown"
  | "body_malformed"
  | "body_too_large"
  | "import_too_large"
  | "import_too_many_records"
  | "import_inflated"
  | "import_slow"
  | "import_empty"
  | "import_damaged"
  | "import_stalled"
  | "import_running"
  | "session_begun"
  | "agent_unknown"
  | "asset_unknown"
  | "asset_type_refused"
  | "asset_too_large"
  | "asset_cut_off"
  | "assets_full"
  | "asset_store_failed"
  | "link_expired"
  | "tenant_leaving"
  | "tenant_erased"
  | "rate_limited"
  | "budget_exhausted"
  | "budget_unchecked"
  | "sessions_full"
  | "sockets_full"
  | "user_sockets_full"
  | "storage_full"
  | "tenant_storage_full"
  | "remote_limited"
  | "internal"
>

/**
 * The texts by code. `{max}` is a limit as a number, `{size}` the same limit as a size in bytes, and `{seconds}` the wait, with its unit.
 */
export type FaultWords = Readonly<Record<PageFault, string>>

/** Returns the function that words an error. A code without a text, or with a value missing, keeps the server's text. */
export function wordFaults(words: FaultWords): (code: string, text: string, fields: FaultFields) => string {
  return (code, text, fields) => {
    if (!Object.hasOwn(words, code)) return text
    const { max, retryAfterSeconds: seconds } = fields
    const values: Readonly<Record<string, string | null>> = {
      max: typeof max === "number" ? formatCount(max) : null,
      size: typeof max === "number" ? formatSize(max) : null,
      seconds: typeof seconds === "number" ? formatSeconds(seconds) : null,
    }
    let isWhole = true
    const worded = words[code as PageFault].replace(/\{(\w+)\}/g, (_match, name: string) => {
      const value = values[name] ?? null
      isWhole &&= value !== null
      return value ?? ""
    })
    return isWhole ? worded : text
  }
}
