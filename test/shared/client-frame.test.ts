/** client-frame.test.ts: tests which client frames are accepted and refused, and that no input makes a parser throw. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseClientFrame } from "../../shared/protocol/client-frame.ts"
import { parseServerFrame } from "../../shared/protocol/server-frame.ts"

describe("parseClientFrame", () => {
  test.each([
    ['{"type":"hello","protocol":1,"live":true}'],
    ['{"type":"hello","protocol":1,"live":false,"epoch":"e","after":3}'],
    ['{"type":"send","id":"a","content":"hi"}'],
    ['{"type":"cancel","exchange_id":"a"}'],
    ['{"type":"seen","seq":64}'],
  ])("[WS3] accepts %s", (text) => {
    expect(parseClientFrame(text)).toEqual({ ok: true, value: JSON.parse(text) })
  })

  test.each([
    ["", "frame_malformed"],
    ["{", "frame_malformed"],
    ["null", "frame_malformed"],
    ["[]", "frame_malformed"],
    ['"send"', "frame_malformed"],
    ["{}", "frame_invalid"],
    ['{"type":"segments"}', "frame_unknown"],
    ['{"type":"__proto__"}', "frame_unknown"],
    ['{"type":"send","id":"a"}', "frame_invalid"],
    ['{"type":"send","id":"a b","content":"x"}', "frame_invalid"],
    ['{"type":"send","id":"a","content":{"segments":[]}}', "frame_invalid"],
    ['{"type":"hello","protocol":1,"live":true,"after":-1}', "frame_invalid"],
    ['{"type":"hello","protocol":1,"live":true,"after":1.5}', "frame_invalid"],
    ['{"type":"hello","protocol":"1","live":true}', "frame_invalid"],
  ])("[WS3] refuses %s with %s", (text, reason) => {
    expect(parseClientFrame(text)).toMatchObject({ ok: false, fault: { reason } })
  })

  test("[WS3] a client can't write a part, result, segment or seq, because unknown fields are dropped", () => {
    const frame = parseClientFrame('{"type":"send","id":"a","content":"x","segments":[{}],"seq":9,"role":"assistant"}')
    expect(frame).toEqual({ ok: true, value: { type: "send", id: "a", content: "x" } })
  })

  test("[WS3] never throws, whatever the input", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => typeof parseClientFrame(text).ok === "boolean"))
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const frame = parseServerFrame(text)
        return frame === null || typeof frame.type === "string"
      }),
    )
  })
})
