/**
 * write-state.ts: writes a state directory with the version that is checked out, and records that version's responses.
 *
 * `npm run build && npx node test/state/write-state.ts` writes test/state/<version of package.json>/. Run it once per
 * version that changes the stored data, and never for a version that already exists: see README.md.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { writeConversations, writeRevocations, writeSummary, writeTenant, writeUnfinished } from "./conversations.ts"
import { ANSWERS, ARCHIVE, packState, postponeDeadlines, unpackState } from "./packed-state.ts"
import { type Answers, readAnswers } from "./read-answers.ts"
import { startOn } from "./state-client.ts"

/** A context that is small enough for a few of the poet's turns to be summarised. */
const SMALL_CONTEXT = { MODEL_CONTEXT_TOKENS: "800" }

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "cuecard-state-"))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function writeState(persist: string): Promise<void> {
  const first = await startOn(persist)
  await writeTenant(first)
  await writeRevocations(first)
  await writeConversations(first)
  await first.close()
  const second = await startOn(persist, SMALL_CONTEXT)
  await writeSummary(second)
  await second.close()
  const third = await startOn(persist)
  await writeUnfinished(third)
  await third.kill()
}

async function answersOf(archive: string): Promise<Answers> {
  return await withFolder(async (folder) => {
    unpackState(archive, folder)
    postponeDeadlines(folder)
    const cuecard = await startOn(folder)
    return await readAnswers(cuecard).finally(() => cuecard.close())
  })
}

const ROOT = resolve(import.meta.dirname, "../..")
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string }
const target = join(import.meta.dirname, version)
mkdirSync(target)
const archive = join(target, ARCHIVE)
await withFolder(async (folder) => {
  await writeState(folder)
  packState(folder, archive)
})
const answers = await answersOf(archive)
// Responses that differ between two starts of the same version can't be compared.
if (!isDeepStrictEqual(answers, await answersOf(archive)))
  throw new Error("the responses differ between two starts of the server")
mkdirSync(join(target, ANSWERS, "sessions"), { recursive: true })
for (const [name, text] of Object.entries(answers)) writeFileSync(join(target, ANSWERS, name), text)
