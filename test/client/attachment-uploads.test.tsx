/** attachment-uploads.test.tsx: attachments, from the composer to the server and back. */

import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { RequestError } from "../../client/net/http-request.ts"
import { AttachmentUploads } from "../../client/files/attachment-uploads.ts"
import { getRunner, type UploadFile } from "../../client/files/upload-runner.ts"
import { DraftSession } from "../../client/files/draft-session.ts"
import { uploadAttachment } from "../../client/files/upload-attachment.ts"
import { SessionRouter } from "../../client/session/session-router.ts"
import { Composer } from "../../client/composer/composer.tsx"
import { attachmentChips } from "../../client/composer/deferred-chips.ts"
import { messageEditor } from "../../client/transcript/message-view.tsx"
import { Draft } from "../../client/session/draft.ts"
import { Outbox } from "../../client/net/outbox.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { draw, delay } from "./dom.ts"
import { createMemoryStorage, openSession, pageOf, listSendFrames, setUp, user as userOf } from "./open-session.ts"
import { text, user } from "./sample-messages.ts"
import { transcript } from "./render-transcript.tsx"
import { messageFrame, settle } from "./fake-server.ts"

const createAsset = (id: string, more: Partial<Asset> = {}): Asset => ({
  id,
  kind: "file",
  mime_type: "text/plain",
  label: `${id}.txt`,
  size: 5,
  ...more,
})
const createFile = (name: string, type = "text/plain", content = "words"): File => new File([content], name, { type })

/** Creates an `uploadFile` whose uploads end when the test says so. */
function createUplinks() {
  const under: {
    name: string
    sent: (bytes: number) => void
    end: (asset: Asset) => void
    fail: (e: unknown) => void
  }[] = []
  const signals: AbortSignal[] = []
  const startUplink: UploadFile = (file, sent, signal) => {
    signals.push(signal)
    return new Promise((end, fail) => under.push({ name: file.name, sent, end, fail }))
  }
  return { under, uplink: startUplink, signals }
}

const listStates = (files: AttachmentUploads) => files.entries.value.map(({ state }) => state.at)

beforeAll(() => Promise.all([attachmentChips.load(), messageEditor.load()]))
beforeEach(() => document.body.replaceChildren())

describe("attachments", () => {
  test("[PG67] files upload two at a time and show their progress; their ids keep the order in which the files were chosen", async () => {
    const files = new AttachmentUploads()
    const { under, uplink } = createUplinks()
    getRunner(files).addFiles([createFile("a.txt"), createFile("b.txt"), createFile("c.txt")], uplink)
    expect(under.map(({ name }) => name)).toEqual(["a.txt", "b.txt"])
    under[1]?.sent(3)
    expect(files.entries.value.map(({ state }) => state)).toEqual([
      { at: "sending", sent: 0 },
      { at: "sending", sent: 3 },
      { at: "waiting" },
    ])
    under[1]?.end(createAsset("b"))
    await delay(0)
    expect(under.map(({ name }) => name)).toEqual(["a.txt", "b.txt", "c.txt"])
    under[2]?.end(createAsset("c"))
    under[0]?.end(createAsset("a"))
    expect(files.isReady).toBe(false)
    await delay(0)
    expect(files.isReady).toBe(true)
    expect(files.takeAssets().map(({ id }) => id)).toEqual(["a", "b", "c"])
    expect(files.entries.value).toEqual([])
  })

  test("[PG67] a removed upload is cancelled, and its later events are ignored", async () => {
    const files = new AttachmentUploads()
    const { under, uplink, signals } = createUplinks()
    getRunner(files).addFiles([createFile("a.txt"), createFile("b.txt")], uplink)
    files.removeUpload(files.entries.value[0]?.key ?? 0)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    under[0]?.end(createAsset("a"))
    under[1]?.end(createAsset("b"))
    await delay(0)
    expect(files.takeAssets().map(({ id }) => id)).toEqual(["b"])
  })

  test("[PG67] a refusal shows the server's error text; a retry is offered only if it can help", async () => {
    const files = new AttachmentUploads()
    const { under, uplink } = createUplinks()
    getRunner(files).addFiles([createFile("a.txt"), createFile("b.txt")], uplink)
    under[0]?.fail(new RequestError(415, "Such files are not accepted."))
    under[1]?.fail(new TypeError("no network"))
    await delay(0)
    expect(files.entries.value.map(({ state }) => state)).toEqual([
      { at: "failed", text: "Such files are not accepted.", isFinal: true },
      { at: "failed", text: "We couldn't reach the server. Check your connection and try again.", isFinal: false },
    ])
    getRunner(files).retryUpload(files.entries.value[1]?.key ?? 0)
    under[2]?.end(createAsset("b"))
    await delay(0)
    expect(listStates(files)).toEqual(["failed", "done"])
    expect(files.isReady).toBe(false)
  })

  test("[PG68] files that are empty, too large or too many aren't uploaded", () => {
    const files = new AttachmentUploads()
    const { under, uplink } = createUplinks()
    const large = Object.defineProperty(createFile("film.png", "image/png"), "size", { get: () => 21 * 1024 * 1024 })
    const leftOut = getRunner(files).addFiles(
      [createFile("no.txt", "text/plain", ""), large, ...Array.from({ length: 12 }, (_, at) => createFile(`${at}`))],
      uplink,
    )
    expect(leftOut).toBe(4)
    expect(files.entries.value).toHaveLength(10)
    expect(files.entries.value.slice(0, 2).map(({ state }) => state)).toEqual([
      { at: "failed", text: "File is empty.", isFinal: true },
      { at: "failed", text: "File is larger than 20 MB.", isFinal: true },
    ])
    expect(under).toHaveLength(2)
  })

  test("[PG69] when the page is back online, uploads that failed without a response start again, but refused ones don't", async () => {
    const { deps } = setUp()
    const answers: (() => Promise<{ status: number; text: string }>)[] = [
      () => Promise.reject(new TypeError("no network")),
      async () => ({ status: 415, text: JSON.stringify({ text: "Such files are not accepted." }) }),
      async () => ({ status: 201, text: JSON.stringify(createAsset("a")) }),
    ]
    const sendUpload = () => answers.shift()?.() ?? Promise.reject(new Error("requested too often"))
    const router = new SessionRouter({ ...deps, readHash: () => "#/s/s1", writeHash() {}, sendFile: sendUpload })
    router.openFromHash()
    router.attachFiles([createFile("a.txt"), createFile("a.exe")])
    await vi.waitFor(() => expect(listStates(router.draft.attachments)).toEqual(["failed", "failed"]))
    router.checkConnections()
    await vi.waitFor(() => expect(listStates(router.draft.attachments)).toEqual(["done", "failed"]))
    expect(answers).toEqual([])
  })

  test("[PG68] files beyond the limit for a message are reported", async () => {
    const { deps } = setUp()
    const sendUpload = () => Promise.reject(new TypeError("no network"))
    const router = new SessionRouter({ ...deps, readHash: () => "#/s/s1", writeHash() {}, sendFile: sendUpload })
    router.openFromHash()
    router.attachFiles(Array.from({ length: 11 }, (_, at) => createFile(`${at}.txt`)))
    await vi.waitFor(() => expect(router.sessionList.notice.value).not.toBe(null))
    expect(router.sessionList.notice.value).toMatchObject({
      text: "You can attach up to 10 files. Not added: 1.",
      isFault: true,
    })
  })

  test("[PG42] a file is sent as raw bytes with its name, and with a token that is renewed once if it is refused", async () => {
    const attempts: [string, string][] = []
    const api = { getToken: vi.fn(async () => ({ token: `t${attempts.length}`, renewAt: 0 })), forgetToken: vi.fn() }
    const sendUpload = async (path: string, _body: Blob, token: string) => {
      attempts.push([path, token])
      if (attempts.length === 1) return { status: 401, text: "{}" }
      return { status: 201, text: JSON.stringify({ ...createAsset("a"), duplicate: false }) }
    }
    const runUpload = () =>
      uploadAttachment(
        "s1",
        { api, sendFile: sendUpload },
        createFile("ä b.txt"),
        () => {},
        new AbortController().signal,
      )
    expect(await runUpload()).toEqual(createAsset("a"))
    expect(attempts).toEqual([
      ["/v1/sessions/s1/assets?name=%C3%A4%20b.txt", "t0"],
      ["/v1/sessions/s1/assets?name=%C3%A4%20b.txt", "t1"],
    ])
    expect(api.forgetToken).toHaveBeenCalledTimes(1)
  })
})

describe("the composer", () => {
  function renderComposer(draft = new Draft()) {
    const onSend = vi.fn()
    const onFiles = vi.fn()
    const root = draw(<Composer canSend draft={draft} stop={null} {...{ onSend, onFiles }} />)
    const field = root.querySelector("textarea") as HTMLTextAreaElement
    const send = root.querySelector("button[type=submit]") as HTMLButtonElement
    return { onSend, onFiles, root, field, send, draft }
  }

  test("[PG70] Send is enabled once all files are uploaded; a message may consist of files alone", async () => {
    const { send, draft, onSend, root } = renderComposer()
    const { under, uplink } = createUplinks()
    expect(send.disabled).toBe(true)
    getRunner(draft.attachments).addFiles([createFile("a.txt")], uplink)
    await delay()
    expect(send.disabled).toBe(true)
    expect(root.querySelector(".chip progress")).not.toBe(null)
    under[0]?.end(createAsset("a"))
    await delay()
    expect(send.disabled).toBe(false)
    send.click()
    await delay()
    expect(onSend.mock.calls).toEqual([["", { attachments: [createAsset("a")] }]])
    expect(root.querySelector(".chip")).toBe(null)
  })

  test("[PG67] [PG70] a file that can't be uploaded shows the reason, and blocks the message until it is removed", async () => {
    const { send, draft, root, field } = renderComposer()
    const { under, uplink } = createUplinks()
    draft.text.value = "words"
    getRunner(draft.attachments).addFiles([createFile("a.exe")], uplink)
    under[0]?.fail(new RequestError(415, "Such files are not accepted."))
    await delay()
    expect(root.querySelector("[role=alert]")?.textContent).toBe("Such files are not accepted.")
    expect(send.disabled).toBe(true)
    const readBlocked = () => root.querySelector(".blocked")?.textContent
    expect(readBlocked()).toBe("To send your message, remove “a.exe”.")
    field.focus()
    for (let press = 0; press < 2; press++) {
      field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }))
      await delay()
    }
    expect(document.activeElement).toBe(field)
    expect(root.querySelectorAll(".chip")).toHaveLength(1)
    root.querySelector<HTMLButtonElement>("[aria-label='Remove: a.exe']")?.click()
    await delay()
    expect(readBlocked()).toBe(undefined)
    expect([send.disabled, field.value]).toEqual([false, "words"])
  })

  test("[PG67] an image that can't be displayed shows its file extension", async () => {
    const { draft, root } = renderComposer()
    vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: () => "blob:x", revokeObjectURL() {} }))
    getRunner(draft.attachments).addFiles([createFile("a.png", "image/png")], createUplinks().uplink)
    await delay()
    expect(root.querySelector(".chip img")).not.toBe(null)
    root.querySelector(".chip img")?.dispatchEvent(new Event("error"))
    await delay()
    expect(root.querySelector(".chip img")).toBe(null)
    expect(root.querySelector(".chip .sign")?.textContent).toBe("PNG")
  })

  test("[PG42] a pasted image becomes a file; pasted text stays text, even if the clipboard also has an image of it", async () => {
    const { field, onFiles } = renderComposer()
    const pasteContent = (types: string[], files: File[], content = "some words"): boolean => {
      const event = new Event("paste", { bubbles: true, cancelable: true })
      field.dispatchEvent(Object.assign(event, { clipboardData: { types, files, getData: () => content } }))
      return event.defaultPrevented
    }
    const image = createFile("image.png", "image/png")
    expect(pasteContent(["text/plain", "text/html", "Files"], [image])).toBe(false)
    expect(pasteContent(["text/plain"], [])).toBe(false)
    expect(onFiles).not.toHaveBeenCalled()
    expect(pasteContent(["Files"], [image])).toBe(true)
    expect(onFiles.mock.calls).toEqual([[[image]]])
    // Copied files come with their names or paths as text.
    expect(pasteContent(["text/plain", "Files"], [image], "image.png")).toBe(true)
    expect(
      pasteContent(["text/plain", "Files"], [image, createFile("b.txt")], "/home/a/image.png\r\n/home/a/b.txt\n"),
    ).toBe(true)
    expect(pasteContent(["text/plain", "Files"], [image], "see image.png")).toBe(false)
  })
})

describe("on the wire", () => {
  const beside = { reply_to: "m1", attachments: [createAsset("a"), createAsset("b")] }

  test("[PG71] [PG43] a send frame contains its files and its reply_to, even after a reload", async () => {
    const storage = createMemoryStorage()
    const first = await openSession(undefined, storage)
    first.controller.sendMessage("see", beside)
    const frame = { type: "send", id: "n1", content: "see", reply_to: "m1", attachments: ["a", "b"] }
    expect(listSendFrames(first.server.last().sent)).toEqual([frame])
    expect(new Outbox(storage, "s1").entries.value[0]).toMatchObject({ content: "see", ...beside })
    const second = await openSession(undefined, storage)
    expect(listSendFrames(second.server.last().sent)).toEqual([frame])
  })

  test("[PG71] [PG73] the files and the reply reference of a withdrawn message return to the composer", async () => {
    const media = {
      type: "media",
      url: "/media/a",
      kind: "file",
      label: "a.txt",
      mime_type: "text/plain",
      size: 5,
    } as const
    const queued = userOf("q", "see", { status: "queued", reply_to: "m1", segments: [text("see"), media] })
    const { controller, server } = await openSession([pageOf([queued])])
    controller.withdrawMessage("q")
    const [attempts] = server.last().sent.filter(({ type }) => type === "withdraw")
    server.last().say({ type: "ack", id: (attempts as unknown as { id: string }).id, seq: 11 })
    server.last().say(messageFrame(11, 10, { ...queued, status: "cancelled" }))
    expect(controller.draft.text.value).toBe("see")
    expect(controller.draft.replyTo.value).toBe("m1")
    expect(controller.draft.attachments.takeAssets()).toEqual([createAsset("a")])
  })

  test("[PG72] without a session, the first file creates one; the first text sent becomes its first message and title", async () => {
    const { deps, server, storage } = setUp()
    const created: [string, string][] = []
    const renamed: [string, string][] = []
    const paths: string[] = []
    const api = {
      ...deps.api,
      createSession: async (title: string, id: string) => {
        created.push([title, id])
        return id
      },
      renameSession: async (id: string, title: string) => {
        renamed.push([id, title])
        return title
      },
    }
    const router = new SessionRouter({
      ...deps,
      api,
      readHash: () => "",
      writeHash() {},
      sendFile: async (path) => {
        paths.push(path)
        return { status: 201, text: JSON.stringify({ ...createAsset("a"), duplicate: false }) }
      },
    })
    router.attachFiles([createFile("a.txt")])
    await vi.waitFor(() => expect(listStates(router.draft.attachments)).toEqual(["done"]))
    expect(created).toEqual([["", "n1"]])
    expect(paths).toEqual(["/v1/sessions/n1/assets?name=a.txt"])
    router.sendMessage("", router.draft.takeExtras())
    await settle()
    await settle()
    expect(created).toEqual([
      ["", "n1"],
      ["a.txt", "n1"],
    ])
    expect(renamed).toEqual([["n1", "a.txt"]])
    server.last().events.onOpen()
    server.last().say({ type: "hello", protocol: 3, epoch: "e1", seq: 10 })
    expect(listSendFrames(server.last().sent)).toEqual([{ type: "send", id: "n1", content: "", attachments: ["a"] }])
    expect([...storage.all.keys()].filter((key) => key.includes("import"))).toEqual([])
  })

  test("[PG72] a file removed while the upload code is loading creates no session", async () => {
    const { deps } = setUp()
    const createSession = vi.fn(async (_: string, id: string) => id)
    const sendFile = vi.fn()
    const api = { ...deps.api, createSession }
    const router = new SessionRouter({ ...deps, api, readHash: () => "", writeHash() {}, sendFile })
    router.attachFiles([createFile("a.txt")])
    router.draft.attachments.removeAll()
    await router.loadUploads()
    await settle()
    expect(createSession).not.toHaveBeenCalled()
    expect(sendFile).not.toHaveBeenCalled()
  })

  test("[PG72] a session created for files is erased if they are removed, and kept if a message uses it", async () => {
    const fates: Promise<string>[] = []
    const holdUpload = (id: string, call: () => Promise<void>): Promise<void> => {
      fates.push(
        call().then(
          () => `${id} kept`,
          () => `${id} erased`,
        ),
      )
      return Promise.resolve()
    }
    let ids = 0
    const createSession = async (_: string, id: string) => id
    const early = new DraftSession({
      api: { createSession },
      unfinishedImports: { trackSession: holdUpload },
      createId: () => `s${++ids}`,
    })
    expect(await Promise.all([early.ensureSession(), early.ensureSession()])).toEqual(["s1", "s1"])
    early.discardSession()
    expect(await early.ensureSession()).toBe("s2")
    expect(early.takeSession()).toBe("s2")
    early.discardSession()
    expect(early.takeSession()).toBe(null)
    expect(await Promise.all(fates)).toEqual(["s1 erased", "s2 kept"])
  })
})

describe("a user's attachments", () => {
  test("[PG71] images and files are below the text, even before the server has the message and while it is being edited", async () => {
    const image = createAsset("p", { kind: "image", mime_type: "image/png", label: "p.png" })
    const media = { type: "media", url: "/media/f", kind: "file", label: "f.pdf" } as const
    const unsent = { id: "u", content: "", at: 1, error: null, attachments: [image] }
    const { root } = transcript([user("q", "see", { segments: [text("see"), media] })], [unsent])
    await delay()
    const listKinds = (id: string) =>
      [...root.querySelectorAll(`[data-id=${id}] [data-segment]`)].map((element) => element.getAttribute("data-kind"))
    expect(listKinds("q")).toEqual([null, "file"])
    expect(listKinds("u")).toEqual(["image"])
    root.querySelector<HTMLButtonElement>("[data-id=q] [data-focus-key=edit]")?.click()
    await delay()
    expect(root.querySelector<HTMLTextAreaElement>(".editor textarea")?.value).toBe("see")
    expect(listKinds("q")).toEqual(["file"])
  })
})
