/** import-file.ts: imports text into a session, as a whole file or as a part. */

import { CLAIMS, sessionOf } from "../support/socket.ts"

export function streamOf(text: string | Uint8Array): ReadableStream<Uint8Array> {
  const body = new Response(text).body
  if (body === null) throw new Error("no body")
  return body
}

export async function importFile(id: string, text: string | Uint8Array, part = 1, of = 1) {
  return await sessionOf(id).import(CLAIMS, streamOf(text), { part, of })
}

/** Returns text with one record per line. */
export function toJsonl(...records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("")
}
