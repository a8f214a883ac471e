/** sdk-connection.test.ts: tests `cuecard/client` when connections break, tokens expire and processes restart. */

import { type Client, createClient, CuecardError } from "cuecard/client"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { afterAll, beforeAll, expect, test } from "vitest"
import {
  answersOf,
  createCutSockets,
  createStorage,
  scriptOf,
  SilentSocket,
  textOf,
  untilSnapshot,
  withoutContent,
} from "./sdk-sockets.ts"

let cuecard: Cuecard
const clients: Client[] = []
beforeAll(async () => {
  cuecard = await startCuecard()
})
afterAll(async () => {
  for (const client of clients) client.close()
  await cuecard.close()
})

function openClient(options: Partial<Parameters<typeof createClient>[0]> = {}): Client {
  const client = createClient({ url: cuecard.url, getToken: async () => cuecard.token, ...options })
  clients.push(client)
  return client
}

const PIECES = ["The ", "quick ", "brown ", "fox ", "jumps ", "over ", "the ", "lazy ", "dog."]

test("[SK4] a socket that is cut off after any frame is resumed, and the text is whole, in both clients", async () => {
  const most = { frames: 0 }
  const runs = Array.from({ length: PIECES.length + 3 }, async (_, cutAfter) => {
    const sockets = createCutSockets(cutAfter)
    const { id } = await cuecard.createSession()
    const cut = openClient({ WebSocket: sockets.Socket }).openSession(id)
    const whole = openClient().openSession(id)
    await Promise.all([cut.ready(), whole.ready()])
    const sent = cut.send(scriptOf(PIECES, 160))
    await sent
    const snapshot = await cut.whenIdle()
    expect(answersOf(snapshot).map(textOf)).toEqual([PIECES.join("")])
    const other = await untilSnapshot(whole, ({ messages }) => messages[1]?.status === "completed")
    expect(other.messages.map(withoutContent)).toEqual(snapshot.messages.map(withoutContent))
    if (sockets.opened() > 1) most.frames = Math.max(most.frames, cutAfter)
  })
  await Promise.all(runs)
  // The answer must have enough frames for all cuts to occur within it.
  expect(most.frames).toBeGreaterThan(5)
})

test("[SK7] when the token expires in the middle of an answer, a new one is requested and the answer continues", async () => {
  const { id } = await cuecard.createSession()
  let requested = 0
  const client = openClient({
    getToken: () => {
      requested++
      return cuecard.tokenFor({ expiresIn: requested === 1 ? 2 : 3600 })
    },
  })
  const conversation = client.openSession(id)
  await conversation.send(scriptOf(PIECES, 400))
  const snapshot = await conversation.whenIdle()
  expect(answersOf(snapshot).map(textOf)).toEqual([PIECES.join("")])
  expect(requested).toBeGreaterThan(1)
})

test("[SK6] messages that weren't sent are sent by the user's next client with the same storage, and by no other user's", async () => {
  const { id } = await cuecard.createSession()
  const storage = createStorage()
  // Open the client of a device that gets a token and then loses its connection.
  const offline = openClient({
    storage,
    fetch: () => Promise.reject(new TypeError("offline")),
    WebSocket: createCutSockets(0).Socket,
  })
  const lost = offline.openSession(id)
  void lost.send("/say First.", { id: "kept-1" })
  void lost.send("/say Second.", { id: "kept-2" })
  await untilSnapshot(lost, ({ connection }) => connection === "waiting")
  offline.close()
  expect(await rejectedCode(lost.send("Too late."))).toBe("closed")
  expect([...storage.rows.values()].join()).toContain("/say Second.")

  const stranger = openClient({ storage, getToken: () => cuecard.tokenFor({ user: "stranger" }) })
  await stranger.resume()
  const foreign = stranger.openSession(id)
  await rejectedCode(foreign.ready())
  expect(foreign.getSnapshot().unsent).toEqual([])

  const next = openClient({ storage })
  await next.resume()
  const conversation = next.openSession(id)
  await untilSnapshot(conversation, (snapshot) => answersOf(snapshot).filter(isCompleted).length === 2)
  const { messages } = await conversation.whenIdle()
  expect(messages.map(textOf)).toEqual(["/say First.", "First.", "/say Second.", "Second."])
  expect(storage.rows.size).toBe(0)
})

test("[SK6] an edit that wasn't sent is sent by the user's next client", async () => {
  const { id } = await cuecard.createSession()
  const storage = createStorage()
  const first = openClient().openSession(id)
  await first.send("/say One.")
  const [question] = (await first.whenIdle()).messages
  const silent = openClient({ storage, WebSocket: SilentSocket })
  const lost = silent.openSession(id)
  await lost.ready()
  void lost.edit(question?.id ?? "", "/say Two.")
  expect(lost.getSnapshot().pending.size).toBe(1)
  silent.close()

  await openClient({ storage }).resume()
  const edited = await untilSnapshot(first, ({ messages }) => messages.map(textOf)[1] === "Two.")
  expect(edited.messages[0]).toMatchObject({ version: 2, versions: 2 })
  await expect.poll(() => storage.rows.size).toBe(0)
})

test("[SK6] a client belongs to one user", async () => {
  const users = ["ada", "bob"]
  const client = openClient({ getToken: () => cuecard.tokenFor({ user: users.shift() ?? "", expiresIn: 1 }) })
  await client.sessions.refresh()
  await expect.poll(() => rejectedCode(client.sessions.refresh())).toBe("user_changed")
})

test("[SK3] handles of one session share a connection, which closes with the last handle once everything is sent", async () => {
  const { id } = await cuecard.createSession()
  const sockets = createCutSockets(-1)
  const client = openClient({ WebSocket: sockets.Socket })
  const [first, second] = [client.openSession(id), client.openSession(id)]
  expect(sockets.opened()).toBe(0)
  await Promise.all([first.ready(), second.ready()])
  await untilSnapshot(second, ({ connection }) => connection === "live")
  expect([sockets.opened(), first.getSnapshot()]).toEqual([1, second.getSnapshot()])
  first.close()
  first.close()
  const sent = second.send("/say Sent on leaving.")
  second.close()
  await sent
  const again = client.openSession(id)
  const { messages } = await again.whenIdle()
  expect(messages.map(textOf)).toEqual(["/say Sent on leaving.", "Sent on leaving."])
})

async function rejectedCode(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  return error instanceof CuecardError ? error.code : String(error)
}

function isCompleted({ status }: { readonly status: string }): boolean {
  return status === "completed"
}
