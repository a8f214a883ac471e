/**
 * tool-media.test.ts: tests real turns in which a real tool stores files in a real bucket and attaches them to the
 * answer. The tests check where the files appear, which of them are voice notes, and that history shows the same.
 */

import { env, evictDurableObject } from "cloudflare:test"
import { expect, test } from "vitest"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { CLAIMS, connect, pageOf, sessionOf, type TestClient } from "../support/socket.ts"
import { exportOf } from "./export-sample.ts"
import { listStoredAssets } from "./files.ts"
import {
  answerTo,
  beginTurn,
  call,
  expectSame,
  fault,
  freshSession,
  pause,
  renewPage,
  say,
  script,
  toolsIn,
} from "./session-helpers.ts"

async function playScript(client: TestClient, id: string, ...steps: object[][]): Promise<WireMessage> {
  client.say({ type: "send", id, content: script(...steps) })
  return await client.untilEnd(id)
}

/** Returns the kind of each segment, and for media also the file's name and whether it is a voice note. */
function segmentKinds({ segments }: WireMessage): string[] {
  return segments.map((segment) => {
    if (segment.type === "media") return `${segment.label}${segment.voice === true ? " voice" : ""}`
    return segment.type === "text" ? segment.content : segment.type
  })
}

const saveCall = (labels: string, trailer: string, data = ""): object => call("probe_save", { labels, trailer, data })

test("[DR12] [DR19] [DR20] the files of calls come at the end in call order, live and in history, without trailers", async () => {
  const id = await freshSession("given")
  const client = await connect(id)
  const first = saveCall("a.txt b.wav", "MEDIA:/media/$1\nMEDIA:/media/$0 [[audio_as_voice]]")
  const answer = await playScript(client, "q1", [first, saveCall("c.txt", "MEDIA:/media/$0")], [say("Here.")])
  expect(segmentKinds(answer)).toEqual(["tool", "tool", "Here.", "b.wav voice", "a.txt", "c.txt"])
  expect(answer.segments[0]).toMatchObject({ status: "ok", result: '{"data":""}' })
  const [, , , media] = answer.segments
  expect(media).toMatchObject({
    kind: "audio",
    mime_type: "audio/wav",
    size: 44,
    url: expect.stringMatching(/^\/media\//),
  })
  await expectSame(id, client)
  await evictDurableObject(sessionOf(id))
  await expectSame(id, client)
})

test("[DR12] a file isn't attached unless its own call stored it and that call's trailer names it", async () => {
  const id = await freshSession("kept")
  const client = await connect(id)
  const given = await playScript(client, "q1", [saveCall("a.txt", "MEDIA:/media/$0")], [say("One.")])
  const [media] = given.segments.filter((segment) => segment.type === "media")
  const others = saveCall("b.txt c.txt", `MEDIA:${media?.url}`, "\n\nMEDIA:/media/$0\n\n")
  expect(segmentKinds(await playScript(client, "q2", [others], [say("Two.")]))).toEqual(["tool", "Two."])
  await expectSame(id, client)
})

test("[DR13] a file that the text names appears there, and not again at the end", async () => {
  const id = await freshSession("named")
  const client = await connect(id)
  const first = await playScript(
    client,
    "q1",
    [saveCall("a.wav", "[[audio_as_voice]]\nMEDIA:/media/$0")],
    [say("One.")],
  )
  const [media] = first.segments.filter((segment) => segment.type === "media")
  const again = await playScript(
    client,
    "q2",
    [saveCall("b.txt", "MEDIA:/media/$0")],
    [say(`So:\nMEDIA: ${media?.url}\nthere`)],
  )
  // The file is no longer a voice note, because that flag belonged to the call.
  expect(segmentKinds(again)).toEqual(["tool", "So:", "a.wav", "there"])
  await expectSame(id, client)
})

test("[DR20] nothing is appended to a turn that fails, even after an eviction", async () => {
  const id = await freshSession("failed")
  const client = await connect(id)
  const failed = await playScript(
    client,
    "q1",
    [saveCall("a.txt", "MEDIA:/media/$0")],
    [say("Ha"), fault("model_cut_off")],
  )
  expect([failed.status, segmentKinds(failed)]).toEqual(["failed", ["tool", "Ha"]])
  await evictDurableObject(sessionOf(id))
  expect(segmentKinds((await pageOf(id)).messages.at(-1) ?? failed)).toEqual(["tool", "Ha"])
})

test("[DR20] a retried answer keeps the files of the calls that it keeps, at its end", async () => {
  const id = await freshSession("again")
  const client = await connect(id)
  const steps = [[saveCall("a.wav", "[[audio_as_voice]]\nMEDIA:/media/$0")], [pause(1_500), say("Done.")]]
  await beginTurn(client, "q1", script(...steps))
  await client.untilTrue(() => toolsIn(answerTo(client, "q1"))[0]?.status === "ok")
  client.say({ type: "cancel", exchange_id: "q1" })
  const stopped = await client.untilEnd("q1")
  expect([stopped.status, segmentKinds(stopped)]).toEqual(["cancelled", ["tool"]])
  client.say({ type: "retry", id: "t1", message: stopped.id })
  await client.untilTrue((reply) => reply.type === "ack" && reply.id === "t1")
  await renewPage(id, client)
  const whole = await client.untilEnd("q1")
  expect(segmentKinds(whole)).toEqual(["tool", "Done.", "a.wav voice"])
  await evictDurableObject(sessionOf(id))
  await expectSame(id, client)
})

test("[DR19] [SG11] the line that requests the embedding of a call's canvas is neither shown nor exported", async () => {
  const id = await freshSession("canvas")
  const client = await connect(id)
  const answer = await playScript(
    client,
    "q1",
    [call("canvas_create", { title: "Plan", html: "<p>x" })],
    [say("Done.")],
  )
  expect(segmentKinds(answer)).toEqual(["tool", "Done."])
  const [tool] = answer.segments
  expect(tool?.type === "tool" && JSON.parse(tool.result ?? "")).toMatchObject({ title: "Plan" })
  expect(await exportOf(id)).not.toContain("[embed")
  await expectSame(id, client)
})

test("[DR19] [SG11] an asked agent's tool results contain no directive lines", async () => {
  const id = await freshSession("agent")
  const client = await connect(id)
  const message = script([saveCall("a.txt", "MEDIA:/media/$0\nWrite it.")], [say("Kept.")])
  const answer = await playScript(client, "q1", [call("agents_message", { agent: "weather", message })], [say("Done.")])
  const [tool] = toolsIn(answer)
  const { session } = JSON.parse(tool?.result ?? "{}")
  const [made] = (await pageOf(session)).messages.flatMap((message) => toolsIn(message))
  expect(made).toMatchObject({ name: "probe_save", status: "ok", result: '{"data":""}' })
})

test("[AS10] a file saved by an interrupted call stays with the session and isn't shown", async () => {
  const id = await freshSession("stopped")
  const client = await connect(id)
  const slow = call("probe_save", { labels: "a.txt", trailer: "MEDIA:/media/$0", ms: 60_000 })
  client.say({ type: "send", id: "q1", content: script([slow], [say("Here.")]) })
  const storedStates = async () => (await listStoredAssets(CLAIMS.tenant, id)).rows.map((row) => row.split(" ")[1])
  await expect.poll(storedStates).toEqual(["kept"])
  client.say({ type: "cancel", exchange_id: "q1" })
  const answer = await client.untilEnd("q1")
  expect([answer.status, segmentKinds(answer)]).toEqual(["cancelled", ["tool"]])
  const { bytes, rows } = await listStoredAssets(CLAIMS.tenant, id)
  expect(rows).toEqual([`${bytes[0]} kept`])
  await sessionOf(id).erase(CLAIMS)
  expect((await env.MEDIA.list({ prefix: `${CLAIMS.tenant}/${id}/` })).objects).toEqual([])
})
