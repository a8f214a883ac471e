/**
 * segment.ts: the types of segments (the units that the page renders) and of ops (changes to a list of segments).
 *
 * message → SEGMENTS, OPS → frame → client
 * Part of the wire format: a change to a shape needs a new PROTOCOL_VERSION. A test compares a hash of these types
 * (SPEC WS11).
 */

import type { Json } from "../json.ts"
import type { TextSize } from "../truncate.ts"
import type { AgentTag, Approval, CallError, Metrics } from "./event.ts"
import type { CallInput } from "./input/call-input.ts"
import type { CallStatus, MessageStatus } from "./message.ts"

/** One unit of a message, in display order. Derived from the message's parts. */
export type Segment =
  | { readonly type: "text"; readonly content: string }
  /** A card: `payload` is the data of a tool result, `synthesis` the model's text inside the span tag. */
  | {
      readonly type: "rich"
      readonly tag: string
      readonly payload: Json
      readonly synthesis: string
      readonly call_id?: string
      /**
       * The version of the card that shows the payload (`hits@<revision>`). Absent if a built-in card of the page shows
       * it.
       */
      readonly view?: string
    }
  | { readonly type: "thinking"; readonly content: string; readonly ms?: number }
  | {
      readonly type: "tool"
      readonly call_id: string
      readonly name: string
      readonly args: string
      readonly status: CallStatus
      readonly output?: string
      readonly result?: string
      readonly error?: CallError
      /** Present if the call needs approval. With the status `waiting`, `asked` means that the user must decide. */
      readonly approval?: Approval
      /** What the call asks the user. Present while the call is waiting for the answer. */
      readonly input?: CallInput
      readonly truncated?: TextSize
      /** The URL of the MCP App that shows the result, as in a `canvas` segment. */
      readonly app?: string
    }
  /**
   * A framed document: a canvas of this deployment, or a page from an origin that the tenant allows. The height is in
   * CSS pixels.
   */
  | {
      readonly type: "canvas"
      readonly preview: {
        readonly kind: "canvas"
        readonly surface: "assistant_message"
        readonly render: "url"
        readonly viewId?: string
        readonly url: string
        readonly title?: string
        readonly preferredHeight?: number
      }
    }
  /**
   * The URL is a public https URL or `/media/<id>`, never a signed URL. `voice` marks audio that is a voice note.
   * Stored images have a width and a height.
   */
  | ({
      readonly type: "media"
      readonly url: string
      readonly kind: "image" | "audio" | "video" | "file"
      readonly label: string
      readonly mime_type?: string
      /** In bytes. */
      readonly size?: number
      readonly voice?: true
    } & { readonly [pixels in "width" | "height"]?: number })
  /** A page that a tool's result names. The quote is a passage from that page. The URL is a public https URL. */
  | { readonly type: "source"; readonly url: string; readonly title: string; readonly quote?: string }
  /** A message from another agent. */
  | ({ readonly type: "agent"; readonly content: string } & AgentTag)

/** The fields of a tool segment that may change after the segment was opened. */
export type ToolFields = Partial<Omit<Extract<Segment, { type: "tool" }>, "type" | "call_id">>

/** The fields that a `set` op merges into a tool, thinking or audio segment. Null removes a field. */
export type SetFields =
  | { readonly [K in keyof ToolFields]: ToolFields[K] | null }
  | { readonly ms: number }
  | { readonly voice: true }

/** One change to a list of segments. `at` is a segment's index; `offset` counts UTF-16 code units. */
export type Op =
  | { readonly op: "open"; readonly at: number; readonly segment: Segment }
  | { readonly op: "text"; readonly at: number; readonly offset: number; readonly text: string }
  | { readonly op: "set"; readonly at: number; readonly fields: SetFields }
  | { readonly op: "cut"; readonly to: number }
  | {
      readonly op: "meta"
      readonly reply_to?: string
      readonly status?: MessageStatus
      readonly reason?: string
      readonly summary?: string
    }
  | {
      readonly op: "end"
      readonly status: MessageStatus
      readonly reason: string | null
      readonly metrics: Metrics | null
    }

/** Returns the text of a segment to which `text` ops append; empty for a segment without such text. */
export function readSegmentText(segment: Segment): string {
  switch (segment.type) {
    case "text":
    case "thinking":
    case "agent":
      return segment.content
    case "rich":
      return segment.synthesis
    case "tool":
      return segment.output ?? ""
    case "canvas":
    case "media":
    case "source":
      return ""
  }
}
