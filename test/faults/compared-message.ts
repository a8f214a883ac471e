/** compared-message.ts: the fields of a message that are compared between a live client, history, and the rows. */

import { toCanonicalJson } from "../../shared/json.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"

let laterFields: ReadonlySet<string> = new Set()

/**
 * Excludes fields from the comparison, for runs that alternate between the current version and an earlier version that
 * lacks those fields. The setting applies to all runs of this process.
 */
export function leaveOutFields(names: readonly string[]): void {
  laterFields = new Set(names)
}

/** Returns a message as JSON. Ops do not update `content`, so live messages are compared without it. */
export function toLiveJson({ content: _content, ...message }: WireMessage): string {
  return toComparedJson(message)
}

export function toComparedJson(message: object): string {
  return toCanonicalJson(Object.fromEntries(Object.entries(message).filter(([name]) => !laterFields.has(name))))
}
