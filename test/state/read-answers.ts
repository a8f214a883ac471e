/**
 * read-answers.ts: reads everything that a server returns about the sessions of a packed state, as text by file name.
 *
 * Values that differ between requests are omitted: the signatures and expiry times of links. Text that differs between
 * versions is omitted too: a refusal is reduced to its code, and remarks in Markdown are blanked.
 */

import { createHash } from "node:crypto"
import type { HistoryPage, SessionSummary } from "../../shared/protocol/http-body.ts"
import type { Cuecard } from "../../testing/index.ts"
import { HALF_SENT } from "./conversations.ts"
import { adminOf, clientOf, fixedToken, producerOf, StateClient } from "./state-client.ts"

/** The user whose sessions do not change by themselves. */
const USER = "you"
/** Messages per page. There are only a few, so that the cursor is used. */
const PAGE_LIMIT = 3

export type Answers = Readonly<Record<string, string>>

/**
 * Shapes: running server → responses by file name: the tenant's lists, and each session's pages of history, sealed
 *         export and Markdown.
 * Errors: throws if a response is an unexpected error.
 */
export async function readAnswers(cuecard: Cuecard): Promise<Answers> {
  const you = await clientOf(cuecard, USER)
  const admin = await adminOf(cuecard)
  const { sessions } = await you.get<{ sessions: readonly SessionSummary[] }>("/v1/sessions")
  const sessionIds = sessions.map(({ id }) => id)
  const ids = [...sessionIds, ...(await agentSessions(you, sessionIds))].sort()
  const answers: Record<string, string> = {
    "list.jsonl": toLines(sessions),
    "settings.jsonl": toLines([await you.get("/v1/settings")]),
    "agents.jsonl": toLines((await admin.get<{ agents: readonly object[] }>("/v1/agents")).agents),
    "agents-of-user.jsonl": toLines((await you.get<{ agents: readonly object[] }>("/v1/agents")).agents),
    "refusals.jsonl": toLines(await readRefusals(cuecard, you)),
    "external.jsonl": toLines(await externalStates(cuecard)),
    "imports.jsonl": toLines(
      await Promise.all(
        ids.map(async (session) => ({ session, ...(await you.get(`/v1/sessions/${session}/import`)) })),
      ),
    ),
  }
  const assets: object[] = []
  for (const id of ids) {
    const history = await readHistory(you, id)
    answers[`sessions/${id}.history.jsonl`] = history
    answers[`sessions/${id}.events.jsonl`] = await you.text(`/v1/sessions/${id}/events`)
    answers[`sessions/${id}.md`] = withoutRemarks(await you.text(`/v1/sessions/${id}/events?format=markdown`))
    assets.push(...(await readAssets(you, id, history)))
  }
  return { ...answers, "assets.jsonl": toLines(assets) }
}

function toLines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("")
}

/**
 * Returns the ids of agents' sessions. The session list doesn't contain them, but the calls that asked the agents name
 * them.
 */
async function agentSessions(you: StateClient, sessionIds: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  for (const id of sessionIds) {
    const events = await you.text(`/v1/sessions/${id}/events`)
    for (const [session] of events.matchAll(/\bagent-[0-9a-f]{32}\b/g)) found.add(session)
  }
  return [...found]
}

/** Returns every page of a session's history as received, newest first. */
async function readHistory(you: StateClient, id: string): Promise<string> {
  const path = `/v1/sessions/${id}/conversation/recent?limit=${PAGE_LIMIT}`
  let pages = ""
  for (let before = ""; ; ) {
    const text = await you.text(`${path}${before}`)
    pages += `${text}\n`
    const { cursor } = JSON.parse(text) as HistoryPage
    if (cursor === undefined) return pages
    before = `&before=${cursor}`
  }
}

/** Returns the assets that a history shows, each with the hash of its bytes. */
async function readAssets(you: StateClient, session: string, history: string): Promise<object[]> {
  const own = /"url":"(\/(?:media|canvas\/documents)\/[\w-]+(?:\/index\.html)?)"/g
  const urls = [...new Set(Array.from(history.matchAll(own), ([, url = ""]) => url))]
  const path = `/v1/sessions/${session}/media/sign`
  const { signed } = await you.send<{ signed: { url: string; href: string }[] }>("POST", path, { urls })
  return await Promise.all(
    signed.map(async ({ url, href }) => {
      const response = await you.request(href)
      const bytes = stripGuardScript(Buffer.from(await response.arrayBuffer()))
      const sha256 = createHash("sha256").update(bytes).digest("hex")
      const type = response.headers.get("content-type")
      return { session, url, status: response.status, type, bytes: bytes.byteLength, sha256 }
    }),
  )
}

/**
 * Removes the guard script from a canvas document. The server adds this script to every response and doesn't store it.
 */
function stripGuardScript(bytes: Buffer): Buffer {
  const start = "<!doctype html><script>(() => {"
  if (!bytes.subarray(0, start.length).equals(Buffer.from(start))) return bytes
  return bytes.subarray(bytes.indexOf("</script>") + "</script>".length)
}

async function externalStates(cuecard: Cuecard): Promise<object[]> {
  const stateOf = async (session: string, answer: string): Promise<object> => {
    const producer = await producerOf(cuecard, USER, session)
    return await producer.get(`/external/sessions/${session}/events?responseId=${answer}`)
  }
  return [
    await stateOf("external", "external-2"),
    await stateOf("external", "external-3"),
    await stateOf(HALF_SENT.session, HALF_SENT.answer),
  ]
}

/** Returns the responses to revoked tokens, for an erased session, and for another user's session. */
async function readRefusals(cuecard: Cuecard, you: StateClient): Promise<object[]> {
  const readAnswer = async (what: string, client: StateClient, path: string): Promise<object> => {
    const response = await client.request(path)
    const { code = null } = (await response.json()) as { readonly code?: string }
    return { what, status: response.status, code }
  }
  const revoked = new StateClient(cuecard, await fixedToken(USER, "revoked-1"))
  const revokedClient = new StateClient(cuecard, await fixedToken("gone", "revoked-2"))
  return [
    await readAnswer("a revoked token", revoked, "/v1/sessions"),
    await readAnswer("a token of a user who revoked all", revokedClient, "/v1/sessions"),
    await readAnswer("a newer token of that user", await clientOf(cuecard, "gone"), "/v1/sessions"),
    await readAnswer("an erased session", you, "/v1/sessions/erased/conversation/recent"),
    await readAnswer("the session of another user", you, "/v1/sessions/cut/conversation/recent"),
  ]
}

/**
 * Blanks remarks such as `_This answer is failed: …_` and `_Imported: …_`. History contains the same information as
 * codes.
 */
function withoutRemarks(markdown: string): string {
  return markdown.replace(/^_.*_$/gm, "_…_")
}
