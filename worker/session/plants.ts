/**
 * plants.ts: bugs to be planted on purpose, so that the fault suite can be seen to find them (SPEC FS4).
 *
 * PLANT names one; it is for tests, and a production deployment refuses it (SPEC AU3). Each makes its window
 * WRITE_DELAY_MS wide, so that a kill can hit it.
 */

import type { Sockets } from "../socket/sockets.ts"
import type { Part } from "../../shared/protocol/message.ts"
import type { TextChunk, StoredMessage } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"

/** How long after its time a planted write comes, in milliseconds. */
const WRITE_DELAY_MS = 50
/** One window in so many is dropped. */
const DROP_EVERY = 3

/** The store, with the bug that is named; any other name is none. */
export function mutateStore(mutant: string | undefined, store: SessionStore): SessionStore {
  switch (mutant) {
    // A message is acknowledged before it is stored.
    case "ack_early":
      return { ...store, insertMessage: (place) => writeLater(() => store.insertMessage(place)) }
    // So is one that waits.
    case "lost_queue":
      return { ...store, enqueueMessage: (message, seq) => writeLater(() => store.enqueueMessage(message, seq)) }
    // A message that was here before is stored again.
    case "no_dedupe":
      return createDuplicatingStore(store)
    // A cancel is told before it is written.
    case "forget_cancel":
      return {
        ...store,
        updateMessage: (place) => {
          if (place.message.status === "cancelled") writeLater(() => store.updateMessage(place))
          else store.updateMessage(place)
        },
      }
    // What a model says is sent before it is written.
    case "send_first":
      return {
        ...store,
        putChunk: (pos, seq, leaf) => writeLater(() => store.putChunk(pos, seq, leaf)),
        putCall: (pos, part, step, seq, call) => writeLater(() => store.putCall(pos, part, step, seq, call)),
      }
    // Now and then a window is sent and never written.
    case "drop_window":
      return createDroppingStore(store)
    // A cancelled answer goes on growing.
    case "late_delta":
      return createLateDeltaStore(store)
    // A tool with side effects that a killed process left behind is run again.
    case "run_again":
      return { ...store, findMessageAt: (pos) => markRunningAsAllowed(store.findMessageAt(pos)) }
    default:
      return store
  }
}

export function mutateSockets(mutant: string | undefined, sockets: Sockets): Sockets {
  switch (mutant) {
    // A resume sends twice what was missed.
    case "replay_twice":
      return { ...sockets, resumeSocket: (socket, hello) => sockets.resumeSocket(sendTwice(socket), hello) }
    // A resume leaves out the first frame that was missed.
    case "resume_gap":
      return {
        ...sockets,
        resumeSocket(socket, hello) {
          const after = hello.after === null || hello.after >= hello.seq ? hello.after : hello.after + 1
          sockets.resumeSocket(socket, { ...hello, after })
        },
      }
    default:
      return sockets
  }
}

/** The bucket, which refuses what is named: `bucket_put`, `bucket_get`, `bucket_delete`, `bucket_list`. */
export function mutateBucket(mutant: string | undefined, bucket: R2Bucket): R2Bucket {
  const refused = /^bucket_(put|get|delete|list)$/.exec(mutant ?? "")?.[1]
  if (refused === undefined) return bucket
  return new Proxy(bucket, {
    get(target, name) {
      if (name === refused) return () => Promise.reject(new Error(`the bucket refuses to ${refused}`))
      const value: unknown = Reflect.get(target, name)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}

/** Nobody waits for it: if it fails it is lost, as after a kill. */
function writeLater(write: () => void): void {
  setTimeout(() => {
    try {
      write()
    } catch {
      // Another took its place meanwhile.
    }
  }, WRITE_DELAY_MS)
}

/** What is known already is stored under another id. */
function createDuplicatingStore(store: SessionStore): SessionStore {
  const withNewId = <T extends { readonly id: string }>(message: T): T =>
    store.findById(message.id) === null ? message : { ...message, id: `${message.id}-again` }
  return {
    ...store,
    findById: () => null,
    insertMessage: (place: StoredMessage) => store.insertMessage({ ...place, message: withNewId(place.message) }),
    enqueueMessage: (message, seq) => store.enqueueMessage(withNewId(message), seq),
  }
}

function createDroppingStore(store: SessionStore): SessionStore {
  let windows = 0
  return {
    ...store,
    putChunk(pos, seq, leaf) {
      windows += 1
      if (windows % DROP_EVERY !== 0) store.putChunk(pos, seq, leaf)
    },
  }
}

function createLateDeltaStore(store: SessionStore): SessionStore {
  let last: { readonly pos: number; readonly chunk: TextChunk } | null = null
  return {
    ...store,
    putChunk(pos, seq, leaf) {
      last = { pos, chunk: leaf }
      store.putChunk(pos, seq, leaf)
    },
    updateMessage(place) {
      store.updateMessage(place)
      const lastChunk = last
      if (place.message.status !== "cancelled" || lastChunk?.pos !== place.pos) return
      const { chunk: leaf } = lastChunk
      writeLater(() => store.putChunk(place.pos, place.seq, { ...leaf, text: `${leaf.text} and more` }))
    },
  }
}

/** Calls that ran look as if they had just been allowed. */
function markRunningAsAllowed(stored: StoredMessage | null): StoredMessage | null {
  if (stored === null) return null
  const parts = stored.message.parts.map((part): Part => {
    if (part.type !== "tool_call" || part.call.status !== "running") return part
    return { ...part, call: { ...part.call, status: "queued", approval: "allowed" } }
  })
  return { ...stored, message: { ...stored.message, parts } }
}

/** The socket, but numbered frames go out twice. */
function sendTwice(socket: WebSocket): WebSocket {
  return new Proxy(socket, {
    get(target, name) {
      if (name === "send") {
        return (text: string) => {
          target.send(text)
          if (/^\{"type":"(?:message|ops)"/.test(text)) target.send(text)
        }
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}
