/**
 * server-frame.ts: the frames that the server sends over the WebSocket, the message in them, and their parser.
 *
 * worker/socket → SERVER FRAME → client/net
 * A change to a frame's shape needs a new PROTOCOL_VERSION (SPEC WS11).
 */

import { type Check, hasShape, isListOf, isNumber, isOptional, isString } from "./shape-check.ts"
import type { BudgetName, BudgetScope, FaultFields, FaultReason } from "../fault.ts"
import { isJsonObject, MAX_JSON_DEPTH, parseJson } from "../json.ts"
import type { ActionRef } from "./cards/card-action.ts"
import type { AgentTag, Metrics } from "./event.ts"
import type { MessageStatus, Role } from "./message.ts"
import type { Op, Segment } from "./segment.ts"

/** A whole message, as in a `message` frame and in a page of history. */
export interface WireMessage {
  readonly id: string
  readonly role: Role
  readonly exchange_id: string
  /** The message as Markdown, for clients that do not render segments. Ops do not update it. */
  readonly content: string
  readonly segments: readonly Segment[]
  readonly status: MessageStatus
  readonly reason: string | null
  readonly reply_to?: string
  readonly mode: string
  /** The click on a card that a user's message represents. */
  readonly action?: ActionRef
  readonly metrics: Metrics | null
  /** The summary that the model received instead of the messages before this turn. */
  readonly summary?: string
  /** Set on a message from another agent, and on the answer to it. */
  readonly agent?: AgentTag
  /** Set if the message comes from an unverified import. Its cards are marked accordingly. */
  readonly origin?: "import"
  /**
   * Set if the message has several versions: the number of this version, counted from 1, and the number of versions.
   */
  readonly version?: number
  readonly versions?: number
  /** Set on an answer: the id of its turn in the server's log. */
  readonly trace?: string
  readonly timestamp: string
}

export type MessageFrame = {
  readonly type: "message"
  readonly seq: number
  readonly prev: number
  /**
   * Set on the header of a message over MAX_SERVER_FRAME_BYTES: the number of ops frames with the same seq that contain
   * the message's segments.
   */
  readonly pieces?: number
} & WireMessage

export interface OpsFrame {
  readonly type: "ops"
  readonly seq: number
  /**
   * The seq of the previous frame on this socket, or the one it resumed from. The client compares `prev` with the last
   * seq that it received, and so detects gaps.
   */
  readonly prev: number
  /** The id of the message that changes. */
  readonly message: string
  readonly ops: readonly Op[]
  /**
   * If the frame was split: the number of this fragment, counted from 1. The client has reached `seq` with the last
   * fragment.
   */
  readonly piece?: number
  /** The number of fragments. Also set on a large ops frame that is split without a header. */
  readonly pieces?: number
}

export interface HelloFrame {
  readonly type: "hello"
  readonly protocol: number
  readonly epoch: string
  readonly seq: number
  /** The session's agent. Absent if it is the general agent. */
  readonly agent?: string | undefined
}

export type ServerFrame =
  | HelloFrame
  | MessageFrame
  | OpsFrame
  | { readonly type: "ack"; readonly id: string; readonly seq: number }
  | {
      readonly type: "error"
      readonly code: FaultReason
      readonly text: string
      readonly id?: string
      readonly trace?: string
      /** The values that the error text contains. */
      readonly fields?: FaultFields | undefined
      /**
       * For `budget_exhausted`: the exhausted budget, its scope and, if it resets at a set time, that time in
       * milliseconds since 1970.
       */
      readonly budget?: BudgetName
      readonly scope?: BudgetScope
      readonly resets?: number
    }

/** The exact bytes of a ping and of the reply. The platform answers a ping without waking the object. */
export const PING_FRAME = '{"type":"ping"}'
export const PONG_FRAME = '{"type":"pong"}'

const numbered = { seq: isNumber, prev: isNumber, pieces: isOptional(isNumber) }

const messageFields = {
  id: isString,
  role: isString,
  status: isString,
  exchange_id: isString,
  timestamp: isString,
  segments: isListOf(hasShape<{ type: string }>({ type: isString })),
}

/** Checks that a value has the fields that the page needs to place and render a message. */
export const isMessageShape = hasShape<Pick<WireMessage, keyof typeof messageFields>>(messageFields)

const FRAME_CHECKS: { readonly [T in ServerFrame["type"]]: Check } = {
  hello: hasShape<{ epoch: string; seq: number; agent?: string }>({
    epoch: isString,
    seq: isNumber,
    agent: isOptional(isString),
  }),
  message: hasShape<Pick<MessageFrame, keyof typeof numbered | keyof typeof messageFields>>({
    ...numbered,
    ...messageFields,
  }),
  ops: hasShape<Pick<OpsFrame, "seq" | "prev" | "pieces" | "message" | "piece" | "ops">>({
    ...numbered,
    message: isString,
    piece: isOptional(isNumber),
    ops: isListOf(hasShape<{ op: string }>({ op: isString })),
  }),
  ack: hasShape<{ id: string }>({ id: isString }),
  error: hasShape<Omit<Extract<ServerFrame, { type: "error" }>, "type" | "trace">>({
    code: isString,
    text: isString,
    id: isOptional(isString),
    fields: isOptional(isJsonObject),
    budget: isOptional(isString),
    scope: isOptional(isString),
    resets: isOptional(isNumber),
  }),
}

/** Maximum depth of a server frame: a card's payload and the levels around it. */
const MAX_FRAME_DEPTH = MAX_JSON_DEPTH + 8

/** Parses one server frame. Returns null for a malformed frame and for a frame of an unknown type. */
export function parseServerFrame(text: string): ServerFrame | null {
  const value = parseJson(text, MAX_FRAME_DEPTH)
  return isServerFrame(value) ? value : null
}

function isServerFrame(value: unknown): value is ServerFrame {
  if (!isJsonObject(value)) return false
  const type = value["type"]
  return (
    typeof type === "string" && Object.hasOwn(FRAME_CHECKS, type) && Reflect.get(FRAME_CHECKS, type)(value) === true
  )
}
