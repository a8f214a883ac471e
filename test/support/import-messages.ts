/** import-messages.ts: imports a long conversation into a new session, over HTTP. */

import type { Cuecard } from "cuecard/testing"

const POLL_MS = 100
/** Maximum duration of an import, in milliseconds. */
const MAX_IMPORT_MS = 60_000

/**
 * Imports questions that alternate with answers. `textOf` returns the text of each message. Returns the session's id.
 */
export async function importMessages(
  { url, token, createSession }: Pick<Cuecard, "url" | "token" | "createSession">,
  count: number,
  textOf: (at: number) => string,
): Promise<string> {
  const { id } = await createSession("A long conversation")
  const lines = Array.from({ length: count }, (_, at) =>
    JSON.stringify({ type: "message", role: at % 2 === 0 ? "user" : "assistant", content: textOf(at) }),
  )
  const request = async (init: RequestInit): Promise<{ readonly state?: string }> => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(new URL(`/v1/sessions/${id}/import`, url), { ...init, headers })
    if (!response.ok) throw new Error(`not imported: ${response.status} ${await response.text()}`)
    return (await response.json()) as { readonly state?: string }
  }
  await request({ method: "POST", body: `${lines.join("\n")}\n` })
  for (const end = Date.now() + MAX_IMPORT_MS; Date.now() < end; ) {
    if ((await request({})).state === "done") return id
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error("the import did not end in time")
}
