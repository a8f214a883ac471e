/**
 * rules.test.ts: checks that SPEC.md and the tests name the same rules.
 *
 * A line `- **SG3** text` defines a rule. A test whose title contains `[SG3]`, or a golden file whose comment contains
 * it, proves the rule. Tests that `npm test` skips (`testInFull`) don't count.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { expect, test } from "vitest"

const ROOT = resolve(import.meta.dirname, "..")
const SPEC = join(ROOT, "SPEC.md")

/** The longest rule, in characters. */
const MAX_RULE_CHARS = 400

/** Returns the text of each rule on one line, id included. */
function ruleTexts(): string[] {
  const rules = readFileSync(SPEC, "utf8").matchAll(/^- (\*\*[A-Z]{2}\d+\*\* .+(?:\n {2,}\S.*)*)/gm)
  return [...rules].map(([, text = ""]) => text.replace(/\s+/g, " "))
}

function definedRules(): string[] {
  return [...readFileSync(SPEC, "utf8").matchAll(/^\s*(?:-\s+\*\*|\|\s*)([A-Z]{2}\d+)(?:\*\*|\s*\|)/gm)].map(
    ([, id = ""]) => id,
  )
}

/** Returns the lines of a file that can name a rule: comments in a golden file, titles in a test file. */
function titlesOf(file: string): string[] {
  const text = readFileSync(file, "utf8")
  if (file.endsWith(".txt")) return text.split("\n").filter((line) => line.startsWith("#"))
  return [
    ...text.matchAll(/(?<!testInFull\([^"'`]*|testInFull\.each\([^"'`]*)(["'`])((?:\s*\[[A-Z]{2}\d+\])+)[^\n]*/g),
  ].map(([line]) => line)
}

/** Returns the id of each rule that a test names, mapped to the first file that names it. */
function provenRules(): Map<string, string> {
  const proven = new Map<string, string>()
  const files = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  for (const file of files.filter((name) => /\.test\.tsx?$|^golden\/.*\.txt$/.test(name)).sort()) {
    if (file.includes("node_modules")) continue
    for (const title of titlesOf(join(ROOT, "test", file))) {
      for (const [, id = ""] of title.matchAll(/\[([A-Z]{2}\d+)\]/g)) if (!proven.has(id)) proven.set(id, file)
    }
  }
  return proven
}

test.skipIf(!existsSync(SPEC))(
  "[RU1] every rule has a test, every test's rule is in SPEC.md, and no id is used twice",
  () => {
    const defined = definedRules()
    const proven = provenRules()
    expect({
      withoutTest: defined.filter((id) => !proven.has(id)),
      withoutRule: [...proven].filter(([id]) => !defined.includes(id)).map(([id, file]) => `${id} in test/${file}`),
      definedTwice: defined.filter((id, index) => defined.indexOf(id) !== index),
    }).toEqual({ withoutTest: [], withoutRule: [], definedTwice: [] })
  },
)

test.skipIf(!existsSync(SPEC))("[RU2] no rule is too long", () => {
  const texts = ruleTexts()
  expect(texts.length).toBeGreaterThan(1000)
  expect(texts.filter((text) => text.length > MAX_RULE_CHARS)).toEqual([])
})
