/** tenant-export.test.ts: exports a tenant and imports it into another one, with real workerd, SQLite and bucket. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { call, makeSession, refusal, tablesOf } from "./http.ts"
import { png, postFile } from "./files.ts"
import { call as asks, say, script, withoutTraces } from "./session-helpers.ts"
import {
  type Archive,
  askQuestion,
  downloadFile,
  downloadArchive,
  exportSession,
  exportTenant,
  importTenant,
  ownerToken,
  registerUser,
  roleToken,
  uploadFile,
} from "./tenant-transfer.ts"

const promptOf = (name: string): string => JSON.stringify({ name, text: `${name}:\n${"x".repeat(4_000)}` })

/** Creates a tenant with two users, cards, files, versions, an agent conversation, an empty session and settings. */
async function fillTenant(tenant: string): Promise<void> {
  await registerUser(tenant, "boss", "owner")
  for (const user of ["ada", "bob"]) await registerUser(tenant, user)
  const boss = await ownerToken(tenant)
  const agent = JSON.stringify({ description: "Writes.", prompt: "You write.", tools: ["weather"] })
  expect((await call("/v1/agents/writer", { method: "PUT", token: boss, body: agent })).status).toBe(200)
  expect((await call("/v1/agents/researcher", { method: "DELETE", token: boss })).status).toBe(204)
  const settings = JSON.stringify({ embed_origins: ["https://ok.com"], media_hosts: [] })
  expect((await call("/v1/settings", { method: "PUT", token: boss, body: settings })).status).toBe(200)
  for (const user of ["ada", "bob"]) {
    const token = await roleToken(tenant, user, "member")
    for (const name of user === "ada" ? ["Reply", "Shorter"] : [])
      expect((await call(`/v1/prompts/${name}`, { method: "PUT", token, body: promptOf(name) })).status).toBe(200)
    const id = await makeSession(token)
    await askQuestion(id, token, "What is the weather in Oslo?")
    const uploaded = await postFile(id, token, png(7))
    expect(uploaded.status).toBe(201)
    await askQuestion(id, token, "/say nice", { attachments: [uploaded.json.id] })
    await askQuestion(
      id,
      token,
      script([asks("agents_message", { agent: "weather", message: "Rain in Lima?" })], [say("ok")]),
    )
    await makeSession(token, "Empty")
    const other = user === "ada" ? "bob" : "ada"
    expect((await call(`/v1/sessions/${id}/viewers/${other}`, { method: "PUT", token })).status).toBe(200)
  }
}

async function expectSamePrompts(from: string, to: string, user: string, count: number): Promise<void> {
  const [before, after] = [await roleToken(from, user, "member"), await roleToken(to, user, "member")]
  const saved = (await call("/v1/prompts", { token: before })).json
  expect(saved.prompts).toHaveLength(count)
  expect((await call("/v1/prompts", { token: after })).json).toEqual(saved)
}

const listOf = async (token: string) => (await call("/v1/sessions", { token })).json.sessions

async function expectSameSessions(from: string, to: string, user: string): Promise<void> {
  const [before, after] = [await roleToken(from, user, "member"), await roleToken(to, user, "member")]
  const sessions = await listOf(before)
  expect(await listOf(after)).toEqual(sessions)
  const shared = (await call("/v1/sessions/shared", { token: before })).json
  expect(shared.sessions).toHaveLength(1)
  expect((await call("/v1/sessions/shared", { token: after })).json).toEqual(shared)
  for (const { id } of sessions) expect(await exportSession(id, after)).toEqual(await exportSession(id, before))
}

const shownOf = async (id: string, token: string) =>
  (await call(`/v1/sessions/${id}/conversation/recent?limit=50`, { token })).json.messages

describe("a tenant that is exported", () => {
  test("[TX1] [TX5] [TX6] is imported into another one: the same users, settings, conversations, files and cards", async () => {
    await fillTenant("tx-from")
    const archive = await downloadArchive("tx-from", await exportTenant("tx-from"))
    await registerUser("tx-to", "boss", "owner")
    const imported = await importTenant("tx-to", archive)
    const tally = { users: 2, sessions: 4, agent_sessions: 2, files: 2 }
    expect(imported).toMatchObject({ state: "done", from: "tx-from", skipped: 0, missing: [], tally })
    for (const user of ["ada", "bob"]) await expectSameSessions("tx-from", "tx-to", user)
    await expectSamePrompts("tx-from", "tx-to", "ada", 2)
    await expectSamePrompts("tx-from", "tx-to", "bob", 0)
    const ada = await roleToken("tx-to", "ada", "member")
    const { id } = (await listOf(ada)).at(-1)
    const page = (await call(`/v1/sessions/${id}/conversation/recent?limit=50`, { token: ada })).json
    const answers = page.messages.filter((one: { role: string }) => one.role === "assistant")
    expect(withoutTraces(page.messages)).toBe(
      withoutTraces(await shownOf(id, await roleToken("tx-from", "ada", "member"))),
    )
    expect(JSON.stringify(answers[0].segments)).toContain('"rich"')
    // Nothing may be marked as imported, because the archive's seal shows that it is unchanged.
    expect(answers.map((one: { origin?: string }) => one.origin ?? null)).toEqual([null, null, null])
    const boss = await ownerToken("tx-to")
    const agents = (await call("/v1/agents", { token: boss })).json.agents.map((one: { name: string }) => one.name)
    expect(agents).toEqual(["general", "weather", "writer"])
    expect((await call("/v1/settings", { token: boss })).json.embed_origins).toContain("https://ok.com")
    const user = await env.TENANT.getByName("tx-to").registerUser({ id: "ada" })
    expect(user).toMatchObject({ name: "ADA", role: "member", status: "active" })
  })

  test("[TX6] includes its agents' conversations, and they can be continued", async () => {
    await fillTenant("tx-agents")
    const archive = await downloadArchive("tx-agents", await exportTenant("tx-agents"))
    await importTenant("tx-agents2", archive)
    const [old, ada] = [await roleToken("tx-agents", "ada", "member"), await roleToken("tx-agents2", "ada", "member")]
    const { id } = (await listOf(ada)).at(-1)
    const findAgentSession = (lines: readonly string[]) => JSON.stringify(lines).match(/agent-[0-9a-f]{32}/)?.[0] ?? ""
    const agentSession = findAgentSession(await exportSession(id, ada))
    expect(agentSession).toMatch(/^agent-/)
    expect(await exportSession(agentSession, ada)).toEqual(await exportSession(agentSession, old))
    const before = (await exportSession(agentSession, ada)).length
    await askQuestion(
      id,
      ada,
      script([asks("agents_message", { agent: "weather", message: "And in Oslo?" })], [say("ok")]),
    )
    expect((await exportSession(agentSession, ada)).length).toBeGreaterThan(before)
    expect((await call(`/v1/sessions/${id}`, { method: "DELETE", token: ada })).status).toBe(204)
    expect(await tablesOf(env.SESSION.getByName(`tx-agents2:${agentSession}`))).toEqual([])
  })
})

describe("an archive that was changed", () => {
  const flipByte = (bytes: Uint8Array, at: number): Uint8Array => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))

  async function smallArchive(tenant: string): Promise<Archive> {
    await registerUser(tenant, "ada")
    const token = await roleToken(tenant, "ada", "member")
    await askQuestion(await makeSession(token), token, "/say hello")
    return await downloadArchive(tenant, await exportTenant(tenant))
  }

  test("[TX3] [TX9] is refused as a whole, whether the manifest, the seal or a file was changed, and nothing is written", async () => {
    const { manifest, files } = await smallArchive("tx-small")
    const token = await ownerToken("tx-refuses")
    const startImport = (body: string) => call("/v1/tenant/import", { method: "POST", token, body })
    const content = JSON.parse(manifest)
    const changed = [
      [{ ...content, tally: { ...content.tally, users: 9 } }, "seal"],
      [{ ...content, tenant: "tx-other" }, "seal"],
      [{ ...content, seal: `${content.seal.slice(0, -2)}AA` }, "seal"],
      [{ ...content, seal: "%" }, "seal"],
      [{ ...content, files: [{ ...content.files[0], sha256: "0".repeat(64) }] }, "seal"],
      [{ ...content, seal: undefined }, "shape"],
      [{ ...content, files: [] }, "shape"],
      [{ ...content, files: [{ ...content.files[0], n: 2 }] }, "shape"],
      [{ ...content, version: 2 }, "version"],
      [{}, "shape"],
    ] as const
    for (const [body, because] of changed)
      expect(await startImport(JSON.stringify(body))).toEqual(refusal(422, "archive_refused", because))
    expect(await startImport("no json")).toEqual(refusal(422, "archive_refused", "shape"))
    const { id } = (await startImport(manifest)).json
    const file = files[0] ?? new Uint8Array()
    for (const bytes of [
      flipByte(file, 40),
      flipByte(file, file.length - 1),
      file.subarray(1),
      new Uint8Array(file.length + 1),
    ])
      expect(await uploadFile(id, 1, bytes, token)).toEqual(refusal(422, "archive_refused", "file"))
    expect(await uploadFile(id, 2, file, token)).toEqual(refusal(404, "tenant_import_unknown"))
    expect((await call(`/v1/tenant/imports/${id}`, { token })).json).toMatchObject({ state: "uploading", missing: [1] })
    expect((await env.MEDIA.list({ prefix: "tx-refuses/" })).objects).toEqual([])
    expect(await env.TENANT.getByName("tx-refuses").listExports()).toEqual([])
    expect((await call(`/v1/tenant/imports/${id}`, { method: "DELETE", token })).status).toBe(204)
    expect(await uploadFile(id, 1, file, token)).toEqual(refusal(404, "tenant_import_unknown"))
  })

  test("[TX10] is refused by a tenant that already has conversations", async () => {
    const { manifest } = await smallArchive("tx-full")
    const import_ = await call("/v1/tenant/import", {
      method: "POST",
      token: await ownerToken("tx-full"),
      body: manifest,
    })
    expect(import_).toEqual(refusal(409, "tenant_not_empty"))
  })

  test("[TX4] [TX13] only one export runs at a time; it can be removed, and only owners can see it", async () => {
    await smallArchive("tx-one")
    const [token, ada] = [await ownerToken("tx-one"), await roleToken("tx-one", "ada", "member")]
    const { id } = (await call("/v1/tenant/exports", { token })).json.exports[0]
    expect(await call(`/v1/tenant/exports/${id}/files/1`, { token: ada })).toEqual(refusal(403, "scope_denied"))
    const other = await ownerToken("tx-else")
    expect(await call(`/v1/tenant/exports/${id}/files/1`, { token: other })).toEqual(refusal(404, "export_unknown"))
    expect(await call(`/v1/tenant/exports/${id}/files/9`, { token })).toEqual(refusal(404, "export_unknown"))
    expect((await downloadFile(`/v1/tenant/exports/${id}/files/1`, token)).length).toBeGreaterThan(0)
    await call("/v1/tenant/export", { method: "POST", token })
    expect(await call("/v1/tenant/export", { method: "POST", token })).toEqual(refusal(409, "transfer_running"))
    for (const one of (await call("/v1/tenant/exports", { token })).json.exports)
      expect((await call(`/v1/tenant/exports/${one.id}`, { method: "DELETE", token })).status).toBe(204)
    expect((await env.MEDIA.list({ prefix: "tx-one/.exports/" })).objects).toEqual([])
    expect((await call("/v1/tenant/exports", { token })).json.exports).toEqual([])
  })
})
