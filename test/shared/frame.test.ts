import { readFileSync } from "node:fs"
import { createHash } from "node:crypto"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { apply } from "../../shared/protocol/apply-ops.ts"
import type { Op, Segment } from "../../shared/protocol/segment.ts"
import { parseClientFrame } from "../../shared/protocol/client-frame.ts"
import { parseServerFrame } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"

const TEXT: Segment = { type: "text", content: "ab" }
const TOOL: Segment = { type: "tool", call_id: "c", name: "t", args: "{}", status: "running" }

describe("apply", () => {
  test("[WS6] each op has its effect", () => {
    const ops: Op[] = [
      { op: "open", at: 0, segment: TEXT },
      { op: "text", at: 0, offset: 2, text: "c" },
      { op: "open", at: 1, segment: TOOL },
      { op: "text", at: 1, offset: 0, text: "out" },
      { op: "set", at: 1, fields: { status: "ok", result: "{}" } },
      { op: "open", at: 2, segment: { type: "rich", tag: "t_1", payload: {}, synthesis: "" } },
      { op: "text", at: 2, offset: 0, text: "syn" },
    ]
    expect(apply([], ops)).toEqual([
      { type: "text", content: "abc" },
      { ...TOOL, status: "ok", result: "{}", output: "out" },
      { type: "rich", tag: "t_1", payload: {}, synthesis: "syn" },
    ])
    expect(apply(apply([], ops), [{ op: "cut", to: 1 }])).toHaveLength(1)
  })

  test("[WS6] unchanged segments keep their identity, and the input list isn't modified", () => {
    const before = [TEXT, TOOL]
    const after = apply(before, [{ op: "set", at: 1, fields: { status: "ok" } }])
    expect(after[0]).toBe(TEXT)
    expect(before).toEqual([TEXT, TOOL])
  })

  test.each<[string, Op]>([
    ["a wrong offset", { op: "text", at: 0, offset: 1, text: "x" }],
    ["a missing segment", { op: "text", at: 5, offset: 0, text: "x" }],
    ["an open in the middle", { op: "open", at: 0, segment: TEXT }],
    ["an open past the end", { op: "open", at: 2, segment: TEXT }],
    ["a set on nothing", { op: "set", at: 3, fields: { status: "ok" } }],
    ["a cut past the end", { op: "cut", to: 9 }],
  ])("[WS6] refuses %s", (_what, op) => {
    expect(() => apply([TEXT], [op])).toThrow(RangeError)
  })
})

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

  test("[WS3] a client can't write a part, result, segment or seq: unknown fields are dropped", () => {
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

test("[WS11] the grammar matches PROTOCOL_VERSION: change the frame or event shapes and the version together", () => {
  // Comments, layout and order may change freely. A changed shape changes the hash, as a reminder to change the version.
  const grammar = ["segment.ts", "server-frame.ts", "client-frame.ts", "http-body.ts", "event.ts"]
    .map((file) => readFileSync(new URL(`../../shared/protocol/${file}`, import.meta.url), "utf8"))
    .map((source) => source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ""))
    .flatMap((source) => source.match(/export (?:type|interface) [\s\S]*?(?=\n\n)|Schema = [\s\S]*?(?=\n\n)/g) ?? [])
    .sort()
    .join("\n")
    .replace(/\s+/g, " ")
  const hash = createHash("sha256").update(grammar).digest("hex").slice(0, 16)
  expect(`${PROTOCOL_VERSION} ${hash}`).toBe("3 46d436d80b0af857")
})

test("[SG1] canonical JSON sorts keys at every depth", () => {
  expect(toCanonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}')
})
