/** log-check.test.ts: tests that the check of log lines finds planted leaks of each kind. */

import { afterEach, describe, expect, test } from "vitest"
import { checkLine, findLeak, noteAddress, noteContent, noteJson, takeLeaks } from "../support/log-check.ts"

const createLine = (fields: object): string => JSON.stringify({ event: "turn_end", tenant: "acme", ...fields })

afterEach(() => void takeLeaks())

describe("leaks that are found", () => {
  test("[OB6] the text of a message, whole or shortened, in any field, nested or as a field name", () => {
    noteJson(JSON.stringify({ type: "send", id: "q1", content: "kanarienvogelgesang" }))
    for (const fields of [
      { model: "kanarienvogelgesang" },
      { error: "Error kanarienvogel" },
      { drift: { tag: ["x-kanarienvogelg"] } },
      { drift: { kanarienvogelgesang: 1 } },
    ])
      expect(findLeak(createLine(fields)), JSON.stringify(fields)).not.toBe(null)
  })

  test("[OB6] the middle and the end of some text, even if the text is long", () => {
    const text = `${"abcdefghij-".repeat(500)}Vogelbeerbaumallee im Regen${"-0123456789".repeat(500)}Schlusswort-Ende-von-allem`
    noteContent("Zuerst etwas, dann Quittenmarmelade, dann Schluss")
    noteContent(text)
    for (const leak of ["Quittenmarme", "enmarmelade,xx", "Vogelbeerbaumallee", "0123456789Schlusswort-Ende-von-allem"])
      expect(findLeak(createLine({ reason: leak })), leak).not.toBe(null)
  })

  test("[OB6] a short file name, but not an id that some text contains", () => {
    noteAddress("/v1/sessions/s1/assets?name=foto.png")
    noteJson(JSON.stringify({ type: "send", id: "q", content: "x", files: [{ name: "plan.pdf" }] }))
    for (const leak of ["foto.png", "TypeError < read (plan.pdf)", "a/foto.png"])
      expect(findLeak(createLine({ error: leak })), leak).not.toBe(null)
    expect(findLeak(createLine({ error: "TypeError < read (worker/turn/my-foto.png.ts:1:2)" }))).toBe(null)
    noteJson(JSON.stringify({ type: "send", id: "exchange-number-7", content: "say exchange-number-7" }))
    expect(findLeak(createLine({ exchange: "exchange-number-7" }))).toBe(null)
  })

  test("[OB6] arguments, results, outputs and thinking of a frame", () => {
    const segments = [
      {
        type: "tool",
        name: "x",
        args: '{"place":"Ouagadougou"}',
        result: "Ouagadougou-result",
        output: "Ouagadougou-output",
      },
      { type: "thinking", content: "Ouagadougou-thoughts" },
    ]
    noteJson(JSON.stringify({ type: "message", segments }))
    for (const leak of ['{"place":"Ouagadougou"}', "Ouagadougou-result", "Ouagadougou-output", "Ouagadougou-thoughts"])
      expect(findLeak(createLine({ reason: leak })), leak).not.toBe(null)
  })

  test("[OB6] a file name, a token and a signed URL", () => {
    noteAddress("/v1/sessions/s1/assets?name=Steuerbescheid-2026.pdf")
    noteAddress("/media/a1?token=opaque-signed-token")
    noteContent("another-opaque-token")
    for (const leak of ["Steuerbescheid-2026.pdf", "opaque-signed-token", "another-opaque-token"])
      expect(findLeak(createLine({ id: leak })), leak).not.toBe(null)
    expect(findLeak("workerd: Steuerbescheid-2026.pdf not found")).not.toBe(null)
  })

  test.each([
    ["a sentence that the test did not register", "What is the weather"],
    ["two lines", "a\nb"],
    ["an address", "https://example.org/x"],
    ["a signed path", "/media/a1?token=x"],
    ["a token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.x"],
    ["an API key", `ck_a_${"K".repeat(10)}_${"s".repeat(40)}_${"c".repeat(6)}`],
    ["a part of an API key", `ck_a_${"K".repeat(10)}_${"s".repeat(12)}`],
    ["a credential", "Bearer x"],
  ])("[OB6] %s", (_name, value) => {
    expect(findLeak(createLine({ reason: value }))).not.toBe(null)
  })

  test("[OB6] a leak is reported once, with the line that contains it", () => {
    checkLine(createLine({ reason: "two words" }))
    expect(takeLeaks()).toEqual([expect.stringContaining("two words")])
    expect(takeLeaks()).toEqual([])
  })
})

test("[OB6] a line with ids, names and numbers is accepted", () => {
  const fields = { session: "V1StGXR8_Z5jdHi6B-myT", trace: "ab".repeat(16), model: "gpt-5", drift: { mark_orphan: 1 } }
  expect(
    findLeak(createLine({ ...fields, error: "TypeError < runTool (worker/turn/dispatch-tool.ts:104:9)", cost: null })),
  ).toBe(null)
  expect(findLeak(createLine({ message: "ck_16I6sNIxRhXDpWeo1F" })), "an id that begins like an API key").toBe(null)
  expect(findLeak("Ready on http://127.0.0.1:8787")).toBe(null)
})
