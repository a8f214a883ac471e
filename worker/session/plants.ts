/**
 * plants.ts: bugs to be planted on purpose, so that the fault suite can be seen to find them (SPEC FS4).
 *
 * PLANT names one; it is for tests, and a production deployment refuses it (SPEC AU3). Each makes its window
 * PLANT_MS wide, so that a kill can hit it.
 */

import type { Sockets } from "../socket/sockets.ts"
import type { Part } from "../../shared/protocol/message.ts"
import type { Leaf, StoredMessage } from "../store/row-codec.ts"
import type { Store } from "../store/session-store.ts"

/** How long after its time a planted write comes, in milliseconds. */
const PLANT_MS = 50
/** One window in so many is dropped. */
const DROP_EVERY = 3

/** The store, with the bug that is named; any other name is none. */
export function plantStore(bug: string | undefined, store: Store): Store {
  switch (bug) {
    // A message is acknowledged before it is stored.
    case "ack_early":
      return { ...store, insertMessage: (place) => later(() => store.insertMessage(place)) }
    // So is one that waits.
    case "lost_queue":
      return { ...store, pushQueue: (message, seq) => later(() => store.pushQueue(message, seq)) }
    // A message that was here before is stored again.
    case "no_dedupe":
      return forgetful(store)
    // A cancel is told before it is written.
    case "forget_cancel":
      return {
        ...store,
        updateMessage: (place) => {
          if (place.message.status === "cancelled") later(() => store.updateMessage(place))
          else store.updateMessage(place)
        },
      }
    // What a model says is sent before it is written.
    case "send_first":
      return {
        ...store,
        putLeaf: (pos, seq, leaf) => later(() => store.putLeaf(pos, seq, leaf)),
        putCall: (pos, part, step, seq, call) => later(() => store.putCall(pos, part, step, seq, call)),
      }
    // Now and then a window is sent and never written.
    case "drop_window":
      return leaky(store)
    // A cancelled answer goes on growing.
    case "late_delta":
      return talkative(store)
    // A tool with side effects that a killed process left behind is run again.
    case "run_again":
      return { ...store, at: (pos) => asIfAllowed(store.at(pos)) }
    default:
      return store
  }
}

export function plantSockets(bug: string | undefined, sockets: Sockets): Sockets {
  switch (bug) {
    // A resume sends twice what was missed.
    case "replay_twice":
      return { ...sockets, resume: (socket, hello) => sockets.resume(twice(socket), hello) }
    // A resume leaves out the first frame that was missed.
    case "resume_gap":
      return {
        ...sockets,
        resume(socket, hello) {
          const after = hello.after === null || hello.after >= hello.seq ? hello.after : hello.after + 1
          sockets.resume(socket, { ...hello, after })
        },
      }
    default:
      return sockets
  }
}

/** The bucket, which refuses what is named: `bucket_put`, `bucket_get`, `bucket_delete`, `bucket_list`. */
export function plantBucket(bug: string | undefined, bucket: R2Bucket): R2Bucket {
  const refused = /^bucket_(put|get|delete|list)$/.exec(bug ?? "")?.[1]
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
function later(write: () => void): void {
  setTimeout(() => {
    try {
      write()
    } catch {
      // Another took its place meanwhile.
    }
  }, PLANT_MS)
}

/** What is known already is stored under another id. */
function forgetful(store: Store): Store {
  const renamed = <T extends { readonly id: string }>(message: T): T =>
    store.find(message.id) === null ? message : { ...message, id: `${message.id}-again` }
  return {
    ...store,
    find: () => null,
    insertMessage: (place: StoredMessage) => store.insertMessage({ ...place, message: renamed(place.message) }),
    pushQueue: (message, seq) => store.pushQueue(renamed(message), seq),
  }
}

function leaky(store: Store): Store {
  let windows = 0
  return {
    ...store,
    putLeaf(pos, seq, leaf) {
      windows += 1
      if (windows % DROP_EVERY !== 0) store.putLeaf(pos, seq, leaf)
    },
  }
}

function talkative(store: Store): Store {
  let last: { readonly pos: number; readonly leaf: Leaf } | null = null
  return {
    ...store,
    putLeaf(pos, seq, leaf) {
      last = { pos, leaf }
      store.putLeaf(pos, seq, leaf)
    },
    updateMessage(place) {
      store.updateMessage(place)
      const spoken = last
      if (place.message.status !== "cancelled" || spoken?.pos !== place.pos) return
      const { leaf } = spoken
      later(() => store.putLeaf(place.pos, place.seq, { ...leaf, text: `${leaf.text} and more` }))
    },
  }
}

/** Calls that ran look as if they had just been allowed. */
function asIfAllowed(stored: StoredMessage | null): StoredMessage | null {
  if (stored === null) return null
  const parts = stored.message.parts.map((part): Part => {
    if (part.type !== "tool_call" || part.call.status !== "running") return part
    return { ...part, call: { ...part.call, status: "queued", approval: "allowed" } }
  })
  return { ...stored, message: { ...stored.message, parts } }
}

/** The socket, but numbered frames go out twice. */
function twice(socket: WebSocket): WebSocket {
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
