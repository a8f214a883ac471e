/**
 * sdk.test.ts: tests `cuecard/client` in Node, with a real server: the session list, messages, commands, versions and
 * files.
 */

import { type Client, createClient, CuecardError } from "cuecard/client"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { answersOf, scriptOf, textOf, untilSnapshot, withoutContent } from "./sdk-sockets.ts"
import { createPng } from "./uploads.ts"

let cuecard: Cuecard
const clients: Client[] = []
beforeAll(async () => {
  cuecard = await startCuecard({ vars: { SCRIPTED_DELAY_MS: "1" } })
})
afterAll(async () => {
  for (const client of clients) client.close()
  await cuecard.close()
})

/** Opens the client of a user. */
function openClient(user: string, options: Partial<Parameters<typeof createClient>[0]> = {}): Client {
  const client = createClient({ url: cuecard.url, getToken: () => cuecard.tokenFor({ user }), ...options })
  clients.push(client)
  return client
}

async function openSession(user: string) {
  const client = openClient(user)
  const { id } = await client.sessions.create({ title: "A session" })
  return { client, id, conversation: client.openSession(id) }
}

/** Returns the error of a promise that must reject. */
async function rejectionOf(promise: Promise<unknown>): Promise<CuecardError> {
  const error: unknown = await promise.then(
    () => "resolved",
    (reason: unknown) => reason,
  )
  if (!(error instanceof CuecardError)) throw new Error(`no CuecardError: ${error}`)
  return error
}

describe("sessions", () => {
  test("[SK1] the list reflects the client's own changes", async () => {
    const client = openClient("lister")
    const ids: string[] = []
    for (let count = 0; count < 3; count++) ids.push((await client.sessions.create({ title: `No. ${count}` })).id)
    const { sessions } = client
    const changed = vi.fn()
    const unsubscribe = sessions.subscribe(changed)
    await expect.poll(() => sessions.getSnapshot().sessions.length).toBe(3)
    expect(changed).toHaveBeenCalled()
    expect(sessions.getSnapshot()).toBe(sessions.getSnapshot())
    expect(sessions.getSnapshot()).toMatchObject({ isLoaded: true, more: "none" })
    await sessions.rename(ids[0] ?? "", "Renamed")
    expect(sessions.getSnapshot().sessions.map(({ title }) => title)).toContain("Renamed")
    await sessions.delete(ids[1] ?? "")
    expect(sessions.getSnapshot().sessions.map(({ id }) => id)).not.toContain(ids[1])
    unsubscribe()
    changed.mockClear()
    await sessions.refresh()
    await sessions.rename(ids[0] ?? "", "Again")
    expect(changed).not.toHaveBeenCalled()
    expect((await sessions.create({ id: ids[0] ?? "" })).id).toBe(ids[0])
  })

  test("[SK1] the list is loaded in pages, and a page that failed can be loaded again", async () => {
    const createRow = (id: string) => ({ id, title: id, created: 1, active: 1, running: false })
    let isBroken = true
    const client = openClient("pager", {
      fetch: async (url) => {
        if (!url.includes("after=")) return Response.json({ sessions: [createRow("a")], next: "second page" })
        if (isBroken) return Response.json({ code: "internal", text: "Broken." }, { status: 500 })
        expect(new URL(url).searchParams.get("after")).toBe("second page")
        return Response.json({ sessions: [createRow("b")], next: null })
      },
    })
    const { sessions } = client
    await sessions.refresh()
    expect(sessions.getSnapshot()).toMatchObject({ more: "available", sessions: [{ id: "a" }] })
    expect(await rejectionOf(sessions.loadMore())).toMatchObject({ code: "internal", status: 500 })
    expect(sessions.getSnapshot().more).toBe("failed")
    isBroken = false
    await sessions.loadMore()
    expect(sessions.getSnapshot()).toMatchObject({ more: "none", sessions: [{ id: "a" }, { id: "b" }] })
  })

  test("[SK5] refused requests reject with the server's error code", async () => {
    const client = openClient("refused")
    expect(await rejectionOf(client.sessions.rename("none", "x"))).toMatchObject({
      code: "session_unknown",
      status: 404,
    })
    expect(await rejectionOf(client.sessions.create({ agent: "nobody" }))).toMatchObject({ code: "agent_unknown" })
    const stranger = createClient({ url: cuecard.url, getToken: async () => "none" })
    expect(await rejectionOf(stranger.sessions.refresh())).toMatchObject({ code: "token_invalid", status: 401 })
    expect(await rejectionOf(stranger.openSession("s").ready())).toMatchObject({ code: "token_invalid" })
    const failing = createClient({ url: cuecard.url, getToken: () => Promise.reject(new Error("no token today")) })
    const error = await rejectionOf(failing.openSession("s").ready())
    expect([error.code, error.cause]).toEqual(["token_failed", new Error("no token today")])
    const unreachable = createClient({ url: "http://127.0.0.1:9", getToken: async () => cuecard.token })
    expect(await rejectionOf(unreachable.sessions.refresh())).toMatchObject({ code: "unreachable", status: null })
    for (const other of [stranger, failing, unreachable]) other.close()
  })

  test("[SK1] a transcript is exported, and other routes are reached with the user's token", async () => {
    const { client, id, conversation } = await openSession("exporter")
    await conversation.send("/say Exported.")
    await conversation.whenIdle()
    const file = await client.sessions.export(id)
    expect(await file.text()).toContain("Exported.")
    expect(await (await client.sessions.export(id, "markdown")).text()).toContain("Exported.")
    expect(await (await client.request("/v1/settings")).json()).toMatchObject({ media_hosts: [] })
  })
})

describe("messages", () => {
  test("[SK1] an answer grows in the snapshots, and its final state equals that on the server", async () => {
    const { client, id, conversation } = await openSession("sender")
    const lengths = new Set<number>()
    conversation.subscribe(() => {
      const answer = answersOf(conversation.getSnapshot()).at(-1)
      if (answer !== undefined) lengths.add(textOf(answer).length)
    })
    await conversation.send(scriptOf(["One. ", "Two. ", "Three."], 200))
    const { messages } = await conversation.whenIdle()
    expect(textOf(messages[1] ?? Object())).toBe("One. Two. Three.")
    expect(lengths.size).toBeGreaterThan(2)
    const page = await (await client.request(`/v1/sessions/${id}/conversation/recent`)).json()
    expect(messages.map(withoutContent)).toEqual(page.messages.map(withoutContent))
  })

  test("[SK9] a snapshot stays the same object until something changes, and so do its parts", async () => {
    const { conversation } = await openSession("watcher")
    await conversation.send("/say First.")
    const first = await conversation.whenIdle()
    expect(conversation.getSnapshot()).toBe(first)
    await conversation.send("/say Second.")
    const second = await conversation.whenIdle()
    expect(second).not.toBe(first)
    expect(second.messages.slice(0, 2)).toEqual(first.messages)
    expect(second.messages[0]).toBe(first.messages[0])
    expect(second.messages[1]).toBe(first.messages[1])
  })

  test("[SK5] a refused message rejects with its code, stays unsent, and can be sent again or discarded", async () => {
    const { conversation } = await openSession("too-long")
    await conversation.ready()
    const error = await rejectionOf(conversation.send("x".repeat(70_000)))
    expect(error).toMatchObject({ code: "message_too_large", fields: { max: MAX_MESSAGE_BYTES } })
    const [unsent] = conversation.getSnapshot().unsent
    expect(unsent?.error).toMatchObject({ code: "message_too_large", message: error.message })
    expect((await rejectionOf(conversation.resend(unsent?.id ?? ""))).code).toBe("message_too_large")
    conversation.discard(unsent?.id ?? "")
    expect(conversation.getSnapshot().unsent).toEqual([])
  })

  test("[SK5] a session that doesn't exist is `gone`, and messages to it are refused", async () => {
    const conversation = openClient("seeker").openSession("missing")
    expect(await rejectionOf(conversation.send("Anybody?"))).toMatchObject({ code: "session_unknown" })
    expect(conversation.getSnapshot().connection).toBe("gone")
    expect((await rejectionOf(conversation.whenIdle())).code).toBe("session_unknown")
  })

  test("[SK1] a running answer is cancelled", async () => {
    const { conversation } = await openSession("canceller")
    await conversation.ready()
    expect(conversation.cancel()).toBe(false)
    void conversation.send(scriptOf(["Begun. ", "Never."], 20_000))
    await untilSnapshot(conversation, ({ activeAnswer }) => activeAnswer !== null)
    expect(conversation.cancel()).toBe(true)
    expect((await conversation.whenIdle()).messages[1]).toMatchObject({ status: "cancelled" })
  })

  test("[SK1] a queued message is withdrawn, and a failed answer is retried", async () => {
    const { conversation } = await openSession("withdrawer")
    await conversation.send(scriptOf(["Begun. ", "Never."], 20_000))
    await conversation.send("/say Not any more.", { id: "queued" })
    await conversation.withdraw("queued")
    await untilSnapshot(conversation, ({ activeAnswer }) => activeAnswer !== null)
    expect(conversation.cancel()).toBe(true)
    expect((await conversation.whenIdle()).messages).toHaveLength(2)
    await conversation.send("/fault model_cut_off")
    const failed = (await conversation.whenIdle()).messages.at(-1)
    expect(failed?.status).not.toBe("completed")
    await conversation.retry(failed?.id ?? "")
    expect((await conversation.whenIdle()).messages.at(-1)).toMatchObject({ version: 2, versions: 2 })
  })

  test("[SK1] older messages are loaded on demand", async () => {
    const { client, id } = await openSession("reader")
    const lines = Array.from({ length: 60 }, (_, count) =>
      JSON.stringify({ role: count % 2 === 0 ? "user" : "assistant", content: `No. ${count}` }),
    )
    const imported = await client.request(`/v1/sessions/${id}/import`, { method: "POST", body: lines.join("\n") })
    expect(imported.status).toBeLessThan(300)
    const conversation = client.openSession(id)
    await conversation.ready()
    expect(conversation.getSnapshot()).toMatchObject({ hasOlder: true })
    while (conversation.getSnapshot().hasOlder) await conversation.loadOlder()
    expect(conversation.getSnapshot().messages.map(({ content }) => content)).toEqual(
      Array.from({ length: 60 }, (_, count) => `No. ${count}`),
    )
  })
})

describe("commands", () => {
  test("[SK1] a tool call is approved or denied", async () => {
    const { client, id, conversation } = await openSession("approver")
    for (const decision of ["approve", "deny"] as const) {
      await conversation.send(`Rename this conversation to ${decision}d`)
      const { messages } = await conversation.whenIdle()
      const call = messages.at(-1)?.segments.find((segment) => segment.type === "tool")
      expect(call).toMatchObject({ status: "waiting" })
      if (call?.type !== "tool") throw new Error("no call")
      await conversation[decision](call.call_id)
      expect((await conversation.whenIdle()).messages.at(-1)?.status).toBe("completed")
      const other = decision === "approve" ? "deny" : "approve"
      expect((await rejectionOf(conversation[other](call.call_id))).code).toMatch(/^(?:call_decided|turn_ended)$/)
    }
    await client.sessions.refresh()
    expect(client.sessions.getSnapshot().sessions.find((row) => row.id === id)?.title).toBe("approved")
    expect((await rejectionOf(conversation.approve("none"))).code).toBe("call_unknown")
  })

  test("[SK1] a question is edited, an answer regenerated, and an earlier version shown again", async () => {
    const { conversation } = await openSession("editor")
    await conversation.send("/say One.")
    const [question] = (await conversation.whenIdle()).messages
    await conversation.edit(question?.id ?? "", "/say Two.")
    const edited = await conversation.whenIdle()
    expect(edited.messages.map(textOf)).toEqual(["/say Two.", "Two."])
    expect(edited.messages[0]).toMatchObject({ version: 2, versions: 2 })
    await conversation.regenerate(edited.messages[1]?.id ?? "")
    const again = await conversation.whenIdle()
    expect(again.messages[1]).toMatchObject({ version: 2, versions: 2 })
    await conversation.selectVersion(again.messages[0]?.id ?? "", 1)
    const shown = await untilSnapshot(conversation, ({ messages }) => messages[0]?.version === 1)
    expect(shown.messages.map(textOf)).toEqual(["/say One.", "One."])
    const error = await rejectionOf(conversation.retry(shown.messages[1]?.id ?? ""))
    expect(error.code).toBe("turn_whole")
  })

  test("[SK5] a second command for a message is rejected at once, and a viewer can't give commands", async () => {
    const { conversation } = await openSession("hasty")
    await conversation.send("/say One.")
    const [, answer] = (await conversation.whenIdle()).messages
    const first = conversation.regenerate(answer?.id ?? "")
    expect((await rejectionOf(conversation.regenerate(answer?.id ?? ""))).code).toBe("command_pending")
    await first
    const viewer = openClient("viewer", { getToken: () => cuecard.tokenFor({ user: "viewer", role: "viewer" }) })
    const reading = viewer.openSession("any")
    await rejectionOf(reading.ready())
    expect((await rejectionOf(reading.regenerate("any"))).code).toBe("scope_denied")
    expect(reading.getSnapshot().isReadOnly).toBe(true)
  })
})

describe("files", () => {
  test("[SK8] a file is uploaded with progress and sent, and its media can be fetched", async () => {
    const { conversation } = await openSession("uploader")
    const bytes = createPng(1_000_000)
    const progress: number[] = []
    const file = new File([bytes], "picture.png", { type: "image/png" })
    const attachment = await conversation.attach(file, { onProgress: (sent) => progress.push(sent) })
    expect(attachment).toMatchObject({ kind: "image", label: "picture.png", size: bytes.length })
    expect(progress.at(-1)).toBe(bytes.length)
    expect(progress.length).toBeGreaterThan(2)
    expect(progress).toEqual([...progress].sort((a, b) => a - b))
    await conversation.send("/say Seen.", { attachments: [attachment] })
    const { messages } = await conversation.whenIdle()
    const media = messages[0]?.segments.find((segment) => segment.type === "media")
    if (media?.type !== "media") throw new Error("no media")
    const url = await conversation.getMediaUrl(media.url)
    const response = await fetch(url ?? "")
    expect((await response.bytes()).length).toBe(bytes.length)
    expect(await conversation.getMediaUrl("/media/none")).toBe(null)
  })

  test("[SK8] a refused upload rejects with its code, and an aborted one with `aborted`", async () => {
    const { conversation } = await openSession("refused-uploader")
    const zip = new Blob([new Uint8Array([0x50, 0x4b, 3, 4, 0, 0])])
    expect((await rejectionOf(conversation.attach(zip, { name: "a.zip" }))).code).toBe("asset_type_refused")
    const stop = AbortSignal.abort()
    expect((await rejectionOf(conversation.attach(zip, { signal: stop }))).code).toBe("aborted")
  })
})
