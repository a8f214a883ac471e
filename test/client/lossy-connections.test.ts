/**
 * lossy-connections.test.ts: whatever the connections lose, the page ends up in the same state as the server, and each
 * message is sent once.
 */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { RequestError } from "../../client/net/http-request.ts"
import { Draft } from "../../client/session/draft.ts"
import { SessionController, type SessionControllerDeps } from "../../client/session/session-controller.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { LossyServer } from "./lossy-server.ts"
import { createMemoryStorage, createStubApi } from "./open-session.ts"
import { createClock, settle } from "./fake-server.ts"

/** The seed, as in test/support/seeded.ts, which can't be used here because its `hold` doesn't await promises. */
const SEED = Number(process.env["FC_SEED"] ?? 586_031)
const RUNS = Number(process.env["FC_RUNS"] ?? 1_000)

interface Loading {
  readonly done: (page: HistoryPage) => void
  readonly fail: (error: Error) => void
}

function setUp() {
  const clock = createClock()
  const server = new LossyServer()
  const loading: Loading[] = []
  const storage = createMemoryStorage()
  let ids = 0
  let expiresAt = clock.now() + 120_000
  const deps: SessionControllerDeps = {
    api: {
      getToken() {
        if (expiresAt <= clock.now()) expiresAt = clock.now() + 120_000
        return Promise.resolve({ token: "jwt", renewAt: expiresAt })
      },
      ...createStubApi(),
      getHistoryPage: () => new Promise((done, fail) => loading.push({ done, fail })),
    },
    storage,
    connect: (_session, _protocols, events) => server.connect(events),
    now: clock.now,
    random: () => 0.5,
    createId: () => `n${++ids}`,
    setTimer: clock.setTimer,
    scheduleRender: (call) => call(),
    onMessageEnd() {},
  }
  return { clock, server, loading, deps }
}

type Setup = ReturnType<typeof setUp> & { controller: SessionController; sentTexts: string[] }

function createSetup(): Setup {
  const { clock, server, loading, deps } = setUp()
  return { clock, server, loading, deps, controller: new SessionController("s1", deps, new Draft()), sentTexts: [] }
}

/** Delivers everything that is pending. */
function deliverAll({ server, loading }: Setup): void {
  for (const load of loading.splice(0)) load.done(server.page())
  forEachConnection(server, (connection) => {
    server.open(connection)
    server.moveUp(connection)
    server.moveDown(connection)
  })
}

/** The events that can happen at each step. */
const ACTS: readonly ((setup: Setup, size: number) => void)[] = [
  deliverAll,
  deliverAll,
  deliverAll,
  deliverAll,
  ({ server }, size) => server.grow(`${size} `),
  ({ server }) => server.grow("more "),
  ({ server }) => server.grow("and "),
  // Frames are lost, or arrive twice.
  ({ server }) => forEachConnection(server, (connection) => server.lose(connection)),
  ({ server }) => forEachConnection(server, (connection) => server.repeat(connection)),
  ({ server }) => server.end("completed"),
  ({ server }) => server.revise(),
  ({ server }) => {
    server.replayBuffer = []
  },
  ({ server }, size) => forEachConnection(server, (connection) => server.moveDown(connection, size)),
  ({ server }) => forEachConnection(server, (connection) => server.moveDown(connection)),
  ({ server }, size) => forEachConnection(server, (connection) => server.moveUp(connection, size)),
  ({ server }) => forEachConnection(server, (connection) => server.moveUp(connection)),
  ({ server }) => forEachConnection(server, (connection) => server.open(connection)),
  ({ server }) => forEachConnection(server, (connection) => server.cut(connection, true)),
  ({ server }) => forEachConnection(server, (connection) => server.cut(connection, false)),
  ({ clock }, size) => clock.pass(size * 700),
  ({ clock }) => clock.pass(25_000),
  ({ loading, server }) => loading.shift()?.done(server.page()),
  ({ loading }) => loading.shift()?.fail(new RequestError(500, "no")),
  ({ controller }) => controller.checkConnection(),
  ({ controller }) => void controller.stopAnswer(),
  ({ controller, sentTexts }, size) => {
    const text = `said ${sentTexts.length} ${size}`
    sentTexts.push(text)
    controller.sendMessage(text)
  },
  // The page is reloaded.
  (setup) => {
    setup.controller.close()
    setup.controller = new SessionController("s1", setup.deps, new Draft())
    void setup.controller.loadNewest()
  },
]

function forEachConnection(server: LossyServer, act: (connection: LossyServer["connections"][number]) => void): void {
  for (const connection of server.connections.slice(-2)) act(connection)
}

const listShown = (controller: SessionController) =>
  controller.store.messageIds.value.map((id) => controller.store.getMessageSignal(id)?.value)

/** Expects the text of each message on the page to be a prefix of the server's. */
function expectPrefix({ controller, server }: Setup): void {
  for (const message of listShown(controller)) {
    const [mine, theirs] = [message?.segments[0], server.messages.find(({ id }) => id === message?.id)?.segments[0]]
    if (mine?.type === "text" && theirs?.type === "text") expect(theirs.content.startsWith(mine.content)).toBe(true)
  }
}

/** Restores all connections and advances the clock. */
async function healConnections(setup: Setup): Promise<void> {
  for (let round = 0; round < 60; round++) {
    for (const connection of setup.server.connections) setup.server.open(connection)
    for (const connection of setup.server.connections) setup.server.moveUp(connection)
    for (const connection of setup.server.connections) setup.server.moveDown(connection)
    for (const load of setup.loading.splice(0)) load.done(setup.server.page())
    await settle()
    setup.clock.pass(1_500)
    await settle()
  }
}

describe("a session on lossy connections", () => {
  test("[SO2] [SO3] [SO12] [SO13] after any losses the page matches the server, and each message was sent once, in order", async () => {
    const acts = fc.array(fc.tuple(fc.nat(ACTS.length - 1), fc.integer({ min: 1, max: 6 })), {
      minLength: 10,
      maxLength: 80,
      size: "max",
    })
    const property = fc.asyncProperty(acts, async (list) => {
      const setup = createSetup()
      void setup.controller.loadNewest()
      setup.sentTexts.push("first")
      setup.controller.sendMessage("first")
      for (let i = 0; i < 4; i++) {
        deliverAll(setup)
        await settle()
      }
      for (const [at, size] of list) {
        ACTS[at]?.(setup, size)
        await settle()
        expectPrefix(setup)
      }
      await healConnections(setup)
      const { controller, server, sentTexts } = setup
      expect(listShown(controller).map(toCanonicalJson)).toEqual(server.messages.map(toCanonicalJson))
      expect(server.messages.flatMap(({ role, content }) => (role === "user" ? [content] : []))).toEqual(sentTexts)
      expect(controller.outbox.entries.value).toEqual([])
      expect(controller.commands.pending.value.size).toBe(0)
      expect(controller.link.value).toBe("live")
      controller.close()
    })
    await fc.assert(property, { seed: SEED, numRuns: RUNS })
  }, 120_000)
})
