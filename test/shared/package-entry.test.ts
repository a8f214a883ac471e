/**
 * package-entry.test.ts: tests the package entry `cuecard` in plain Node, in a process without a bundler or test
 * runner.
 */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))
/**
 * The Node binary from the optional packages, if installed. The Node that runs this test may be too old to strip types.
 */
const INSTALLED_NODE = `${ROOT}node_modules/.bin/node`
const NODE = existsSync(INSTALLED_NODE) ? INSTALLED_NODE : process.execPath

function runModule(code: string): unknown {
  const output = execFileSync(NODE, ["--input-type=module", "-e", code], { cwd: ROOT, encoding: "utf8" })
  return JSON.parse(output)
}

test("[TE12] the package entry exports the functions for other projects", () => {
  const names = runModule(`console.log(JSON.stringify(Object.keys(await import("./shared/index.ts"))))`)
  expect(names).toEqual(
    expect.arrayContaining([
      "apply",
      "checkPublicUrl",
      "clean",
      "createAssembler",
      "createClaudeMapper",
      "createCleaner",
      "createCodexMapper",
      "createPiMapper",
      "createSegmenter",
      "createHistoryReader",
      "fold",
      "parse",
      "parseClientFrame",
      "parseDirectives",
      "parseEvent",
      "parseRecord",
      "parseServerFrame",
      "plainText",
      "segmentsOf",
      "stripSpans",
    ]),
  )
})

test("[TE12] its functions sanitise, segment, validate and convert in plain Node", () => {
  const result = runModule(`
    import * as cuecard from "./shared/index.ts"
    const result = '{"temp_c":12}\\n\\n<span id=\\'weather_1\\'></span>'
    const history = { role: "user", content: "Hi" }
    console.log(JSON.stringify({
      text: cuecard.clean("<script>alert(1)</script><b>Hi</b>"),
      segments: cuecard.parse("<span id='weather_1'>Mild.</span>", [{ name: "weather", ordinal: 1, result }]),
      frame: cuecard.parseClientFrame('{"type":"ping"}').ok,
      url: cuecard.checkPublicUrl("http://localhost/").ok,
      roles: cuecard.createHistoryReader(() => null).readValue(history, "1").map((record) => record.type),
    }))
  `)
  expect(result).toEqual({
    text: "<b>Hi</b>",
    segments: [{ type: "rich", tag: "weather_1", payload: { temp_c: 12 }, synthesis: "Mild." }],
    frame: true,
    url: false,
    roles: ["user_message"],
  })
})
