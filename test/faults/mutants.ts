/**
 * mutants.ts: bugs injected on purpose, to show that the fault suite finds them (SPEC FS4).
 *
 * Each mutant replaces some methods of the store or of the sockets. Delayed writes are WRITE_DELAY_MS late, so that a
 * kill can come before them.
 */

import type { Part } from "../../shared/protocol/message.ts"
import type { SessionHooks } from "../../worker/session/session-hooks.ts"
import type { Sockets } from "../../worker/socket/sockets.ts"
import type { StoredMessage, TextChunk } from "../../worker/store/row-codec.ts"
import type { SessionStore } from "../../worker/store/session-store.ts"

/** Delay of a late write, in milliseconds. */
const WRITE_DELAY_MS = 50
/** `drop_window` loses one in this many writes. */
const DROP_EVERY = 3

/** Creates the hooks that inject the named mutant. With an unknown name, the hooks change nothing. */
export function createMutantHooks(mutant: string | undefined): SessionHooks {
  return {
    wrapStore: (store) => overrideMethod(store, storeOverrides(mutant, store)),
    wrapSockets: (sockets) => overrideMethod(sockets, socketOverrides(mutant, sockets)),
  }
}

function storeOverrides(mutant: string | undefined, store: SessionStore): Partial<SessionStore> {
  switch (mutant) {
    // A message is acknowledged before it is stored.
    case "ack_early":
      return { insertMessage: (place) => writeLater(() => store.insertMessage(place)) }
    // A queued message is acknowledged before it is stored.
    case "lost_queue":
      return { enqueueMessage: (message, seq) => writeLater(() => store.enqueueMessage(message, seq)) }
    // A message that is already stored is stored again.
    case "no_dedupe":
      return duplicateMessages(store)
    // A cancel is reported before it is written.
    case "forget_cancel":
      return {
        updateMessage: (place) => {
          if (place.message.status === "cancelled") writeLater(() => store.updateMessage(place))
          else store.updateMessage(place)
        },
      }
    // Model output is sent before it is written.
    case "send_first":
      return {
        putChunk: (pos, seq, chunk) => writeLater(() => store.putChunk(pos, seq, chunk)),
        putCall: (pos, part, step, seq, call) => writeLater(() => store.putCall(pos, part, step, seq, call)),
      }
    // Some windows are sent and never written.
    case "drop_window":
      return dropChunks(store)
    // A cancelled answer grows after its end.
    case "late_delta":
      return extendCancelledAnswers(store)
    // A tool with side effects that was running when the process was killed runs again.
    case "run_again":
      return { findMessageAt: (pos) => markRunningAsAllowed(store.findMessageAt(pos)) }
    // A late answer is treated as if the version that asked were active.
    case "inactive_shown":
      return { isOnPath: () => true }
    // A late answer to an inactive version is dropped.
    case "answer_dropped":
      return {
        agentAsks: overrideMethod(store.agentAsks, { holdAnswer: (id) => store.agentAsks.closeOutboundAsk(id) }),
      }
    // The number of a producer's newest record is lost on restart.
    case "record_again":
      return { setAckedRecord() {} }
    // A message is stored without its files.
    case "file_lost":
      return {
        insertMessage: ({ message, ...place }) =>
          store.insertMessage({ ...place, message: { ...message, attachments: [] } }),
      }
    default:
      return {}
  }
}

function socketOverrides(mutant: string | undefined, sockets: Sockets): Partial<Sockets> {
  switch (mutant) {
    // A resume sends missed frames twice.
    case "replay_twice":
      return { resumeSocket: (socket, request) => sockets.resumeSocket(sendTwice(socket), request) }
    // A resume omits the first missed frame.
    case "resume_gap":
      return {
        resumeSocket(socket, request) {
          const { after, seq } = request
          sockets.resumeSocket(socket, { ...request, after: after === null || after >= seq ? after : after + 1 })
        },
      }
    default:
      return {}
  }
}

/** Returns `target` with some of its methods replaced. */
function overrideMethod<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const source = Object.hasOwn(methods, name) ? methods : target
      const value: unknown = Reflect.get(source, name)
      return typeof value === "function" ? value.bind(source) : value
    },
  })
}

/** Delays a write. If the write fails, it is lost, as after a kill. */
function writeLater(write: () => void): void {
  setTimeout(() => {
    try {
      write()
    } catch {
      // A write can fail because, for example, another message has taken the position.
    }
  }, WRITE_DELAY_MS)
}

/** If a message's id is already stored, stores the message again under another id. */
function duplicateMessages(store: SessionStore): Partial<SessionStore> {
  const withNewId = <T extends { readonly id: string }>(message: T): T =>
    store.findById(message.id) === null ? message : { ...message, id: `${message.id}-again` }
  return {
    findById: () => null,
    insertMessage: (place) => store.insertMessage({ ...place, message: withNewId(place.message) }),
    enqueueMessage: (message, seq) => store.enqueueMessage(withNewId(message), seq),
  }
}

function dropChunks(store: SessionStore): Partial<SessionStore> {
  let writes = 0
  return {
    putChunk(pos, seq, chunk) {
      writes += 1
      if (writes % DROP_EVERY !== 0) store.putChunk(pos, seq, chunk)
    },
  }
}

function extendCancelledAnswers(store: SessionStore): Partial<SessionStore> {
  let last: { readonly pos: number; readonly chunk: TextChunk } | null = null
  return {
    putChunk(pos, seq, chunk) {
      last = { pos, chunk }
      store.putChunk(pos, seq, chunk)
    },
    updateMessage(place) {
      store.updateMessage(place)
      if (place.message.status !== "cancelled" || last?.pos !== place.pos) return
      const { chunk } = last
      writeLater(() => store.putChunk(place.pos, place.seq, { ...chunk, text: `${chunk.text} and more` }))
    },
  }
}

/** Makes running calls look as if the user had just allowed them. */
function markRunningAsAllowed(stored: StoredMessage | null): StoredMessage | null {
  if (stored === null) return null
  const parts = stored.message.parts.map((part): Part => {
    if (part.type !== "tool_call" || part.call.status !== "running") return part
    return { ...part, call: { ...part.call, status: "queued", approval: "allowed" } }
  })
  return { ...stored, message: { ...stored.message, parts } }
}

/** Wraps a socket so that it sends numbered frames twice. */
function sendTwice(socket: WebSocket): WebSocket {
  return overrideMethod(socket, {
    send(data) {
      socket.send(data)
      if (typeof data === "string" && /^\{"type":"(?:message|ops)"/.test(data)) socket.send(data)
    },
  })
}
