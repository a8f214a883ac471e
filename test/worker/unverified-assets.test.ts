/** unverified-assets.test.ts: tests that an unverified import copies no files. */

import { env, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import type { ImportProgress } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { createAssetRows } from "../../worker/asset/asset-rows.ts"
import { TurnRecorder } from "../../worker/turn/turn-recorder.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { CLAIMS, pageOf, sessionOf } from "../support/socket.ts"
import { answerOf, placed } from "../support/turn.ts"
import { createUserMessage } from "../../worker/turn/begin-turn.ts"
import { exportOf } from "./export-sample.ts"
import { freshSession as fresh } from "./session-helpers.ts"
import { assetOf, putAsset, keyOf } from "./sample-assets.ts"
import { openRequest } from "./external-producer.ts"

const freshSession = (): Promise<string> => fresh("car")

/** The text of an answer that names a file, another message, a canvas of the session and a framed origin. */
const ANSWER_DELTAS = [
  "[[reply_to:q1]]See:\n\nMEDIA:/media/named\n\n",
  '[embed ref="doc" title="Plan" /]\n\n[embed url="https://frames.example.com/a" /]\n\nDone.',
]

/** Fills a session with assets that are referenced in every possible way. Returns the session's messages. */
async function fillSession(id: string): Promise<readonly WireMessage[]> {
  const sent = await putAsset(id, assetOf("sent", { label: "A [plan].png" }))
  const named = await putAsset(id, assetOf("named"))
  const made = await putAsset(id, assetOf("made", { kind: "audio", mime_type: "audio/wav", voice: true }), "RIFFtone")
  const doc = await putAsset(id, assetOf("doc", { kind: "canvas", mime_type: "text/html", size: 4 }), "<p>x")
  await putAsset(id, assetOf("unused"))
  await runInDurableObject(sessionOf(id), (_object, state) => {
    const store = createSessionStore(state.storage.sql)
    const question = createUserMessage("q1", "", 0, { attachments: [sent] })
    store.insertMessage(placed(question, { pos: 1 }))
    let seq = 1
    const addAnswer = (pos: number, name: string, events: readonly TurnEvent[]): void => {
      const message = { ...answerOf(), id: name, exchange_id: "q1" }
      const stored = placed(message, { pos, parent: pos - 1, seq: ++seq })
      store.insertMessage(stored)
      const assets = [named, doc]
      const resolver = {
        findAsset: (one: string) => assets.find((asset) => asset.id === one) ?? null,
        hasMessage: (one: string) => one === "q1",
        listOrigins: () => ["https://frames.example.com"],
      }
      const recorder = new TurnRecorder(store, stored, () => ++seq, { resolver })
      for (const event of events) {
        recorder.feed(event)
        recorder.flush()
      }
    }
    const end: TurnEvent = { type: "end", status: "completed", reason: null, metrics: null }
    addAnswer(2, "a1", [
      { type: "step_start" },
      ...ANSWER_DELTAS.map((delta): TurnEvent => ({ type: "text_delta", delta })),
      end,
    ])
    addAnswer(3, "a2", [
      { type: "step_start" },
      { type: "tool_call", call_id: "c1", name: "speak", args: "{}" },
      { type: "tool_call_start", call_id: "c1", channel: "user", ordinal: 1 },
      {
        type: "tool_result",
        call_id: "c1",
        status: "ok",
        result: '{"ok":true}\n\nMEDIA:/media/made',
        card: null,
        error: null,
        media: [made],
      },
      { type: "text_delta", delta: "Spoken." },
      end,
    ])
  })
  return (await pageOf(id)).messages
}

async function importInto(id: string, text: string): Promise<ImportProgress> {
  const body = new Response(text).body as ReadableStream<Uint8Array>
  const imported = await sessionOf(id).import(CLAIMS, body)
  if (!imported.ok) throw new Error(imported.fault.reason)
  return imported.value
}

const recordsIn = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

async function bytesIn(session: string, id: string): Promise<number | null> {
  return (await env.MEDIA.get(keyOf(session, id)))?.size ?? null
}

function findAsset(session: string, id: string) {
  return runInDurableObject(sessionOf(session), (_object, state) => createAssetRows(state.storage.sql).find(id))
}

describe("an unverified import", () => {
  const forgeText = (text: string): string => text.replace("Spoken.", "Spokes.")

  test("[RE26] copies no files; grants are decided again, and only the names of attachments remain", async () => {
    const [from, to] = [await freshSession(), await freshSession()]
    await fillSession(from)
    expect(await importInto(to, forgeText(await exportOf(from)))).toMatchObject({ state: "done", isSealed: false })
    const [question, reply, spoken] = (await pageOf(to)).messages
    expect(question).toMatchObject({ segments: [{ type: "text", content: "[A [plan].png]" }] })
    // The imported file contains the message that was replied to, but its assets, document and framed origin do not
    // exist here.
    expect(reply).toMatchObject({ origin: "import", reply_to: "q1" })
    expect(reply?.segments.map(({ type }) => type)).toEqual(["text"])
    expect(JSON.stringify(reply?.segments)).toContain("MEDIA:/media/named")
    expect(spoken?.segments.some(({ type }) => type === "media")).toBe(false)
    expect(await bytesIn(to, "sent")).toBeNull()
    expect(await findAsset(to, "sent")).toBeNull()
    const again = recordsIn(await exportOf(to))
    expect(again.some((record) => record.type === "asset" || record.attachments !== undefined)).toBe(false)
  })

  test("[RE26] may name files of this session", async () => {
    const id = await freshSession()
    const own = await putAsset(id, assetOf("named", { label: "mine" }))
    const lines = [
      { type: "user_message", text: "hi", attachments: [own] },
      { type: "text_delta", responseId: "a1", delta: "MEDIA:/media/named" },
      {
        type: "text_done",
        responseId: "a1",
        grants: { origins: [], replies: [], assets: [assetOf("named", { label: "forged" })] },
      },
    ]
    await importInto(id, lines.map((line) => JSON.stringify(line)).join("\n"))
    expect((await pageOf(id)).messages[1]?.segments).toMatchObject([{ type: "media", label: "mine" }])
  })

  test("[RE27] files of other systems become text: kind, name and URL; nothing is fetched", async () => {
    const id = await freshSession()
    const history = [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: "https://pics.example.com/cat.png" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "image", source: { type: "base64", data: "AAAA" } },
          { type: "input_file", filename: "plan.pdf", file_data: "AAAA" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "image", source: { type: "url", url: "http://10.0.0.1/x" } },
          { type: "text", text: "A cat." },
        ],
      },
    ]
    expect(await importInto(id, JSON.stringify(history))).toMatchObject({ state: "done" })
    const [question, answer] = (await pageOf(id)).messages
    expect(question?.content).toBe(
      "What is this?\n\n[image https://pics.example.com/cat.png]\n\n[image]\n\n[image]\n\n[file plan.pdf]",
    )
    expect(answer?.content).toBe("[image]\n\nA cat.")
  })

  test("[EX4] an external producer can't list files, and can name only files of the session", async () => {
    const id = await freshSession()
    await putAsset(id, assetOf("named"))
    const records = [
      { type: "asset", responseId: "a1", asset: assetOf("named") },
      { type: "tool_call", responseId: "a1", callId: "c1", toolName: "t" },
      { type: "tool_result", responseId: "a1", callId: "c1", ok: true, result: "{}", media: [assetOf("forged")] },
      { type: "text_delta", responseId: "a1", delta: "MEDIA:/media/named\n\nMEDIA:/media/other\n" },
      { type: "text_done", responseId: "a1", grants: { origins: [], replies: [], assets: [assetOf("other")] } },
      { type: "assistant_message", responseId: "a1", text: "" },
    ]
    const sending = await openRequest(id)
    for (const record of records) await sending.send(record)
    expect(JSON.stringify(await sending.end())).toContain("record_refused")
    const [answer] = (await pageOf(id)).messages
    expect(answer?.segments.filter(({ type }) => type === "media")).toMatchObject([{ url: "/media/named" }])
  })
})
