/**
 * client-frame.ts: the frames that a client sends over the WebSocket, and their validation.
 *
 * client → PARSE → worker/session/frame-handlers
 * A change to a frame's shape needs a new PROTOCOL_VERSION (SPEC WS11).
 */

import * as v from "valibot"
import { type Fault, fail, type Result, succeed } from "../fault.ts"
import { isJsonObject, parseJson } from "../json.ts"
import { actionClickSchema } from "./cards/card-action.ts"
import { EFFORTS } from "../model-effort.ts"
import { idSchema } from "./event.ts"

const seqSchema = v.pipe(v.number(), v.integer(), v.minValue(0))

const clientFrameSchema = v.variant("type", [
  v.object({
    type: v.literal("hello"),
    protocol: v.pipe(v.number(), v.integer()),
    epoch: v.optional(v.string()),
    after: v.optional(seqSchema),
    /** If false, the client receives only whole messages, when they begin and when they end. */
    live: v.boolean(),
  }),
  v.object({
    type: v.literal("send"),
    id: idSchema,
    content: v.string(),
    reply_to: v.optional(idSchema),
    attachments: v.optional(v.array(idSchema)),
    /** How much the model thinks about this message. If absent, the agent's setting applies. */
    effort: v.optional(v.picklist(EFFORTS)),
    /** The card click that the message represents. The server writes the message's text. */
    action: v.optional(actionClickSchema),
  }),
  v.object({ type: v.literal("cancel"), exchange_id: idSchema }),
  v.object({ type: v.literal("approve"), call_id: idSchema, decision: v.picklist(["allow", "deny"]) }),
  v.object({ type: v.literal("withdraw"), id: idSchema, message: idSchema }),
  v.object({ type: v.literal("retry"), id: idSchema, message: idSchema }),
  v.object({ type: v.literal("regenerate"), id: idSchema, message: idSchema }),
  v.object({ type: v.literal("edit"), id: idSchema, message: idSchema, content: v.string() }),
  v.object({ type: v.literal("switch"), id: idSchema, message: idSchema, version: v.pipe(v.number(), v.integer()) }),
  v.object({ type: v.literal("seen"), seq: seqSchema }),
  v.object({ type: v.literal("ping") }),
])

export type ClientFrame = v.InferOutput<typeof clientFrameSchema>

/**
 * Parses one client frame. The socket must have checked the frame's size.
 *
 * Errors: `frame_malformed`, `frame_unknown`, and `frame_invalid` with the name of the field. SPEC WS3.
 */
export function parseClientFrame(text: string): Result<ClientFrame, Fault> {
  const value = parseJson(text)
  if (!isJsonObject(value)) return fail({ reason: "frame_malformed" })
  const type: unknown = Reflect.get(value, "type")
  if (typeof type !== "string") return fail({ reason: "frame_invalid", field: "type" })
  const isKnown = clientFrameSchema.options.some((option) => option.entries.type.literal === type)
  if (!isKnown) return fail({ reason: "frame_unknown", type: type.slice(0, 40) })
  const parsed = v.safeParse(clientFrameSchema, value, { abortEarly: true })
  if (parsed.success) return succeed(parsed.output)
  return fail({ reason: "frame_invalid", field: v.getDotPath(parsed.issues[0]) ?? "type" })
}
