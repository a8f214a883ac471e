/**
 * titles.test.ts: tests that no code path stores a title with characters that are invisible or reorder the surrounding
 * text.
 */

import { runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { removeControls, toTitle } from "../../shared/text/title.ts"
import { createRenameTool } from "../../worker/tool/rename-tool.ts"
import { CLAIMS, connect, sessionOf } from "../support/socket.ts"
import { call, makeSession, refusal, tokenOf } from "./http.ts"
import { importFile, toJsonl } from "./import-file.ts"
import { freshSession } from "./session-helpers.ts"

const HOSTILE = "safe\u0000 \u202egnp.exe\u202c \u2066x\u2069\u200e\u200f\u061c\u0007\nnext\u2028line\u001b[31m"
const CLEAN = "safe gnp.exe x next line[31m"

const titleOf = (id: string) =>
  runInDurableObject(
    sessionOf(id),
    (_object, { storage }) => storage.sql.exec("SELECT title FROM session").one()["title"],
  )

describe("a title", () => {
  test("[RT13] keeps letters, marks, emoji and joiners", () => {
    for (const title of ["Ünïcödé", "शोध", "می‌خواهم", "👨‍👩‍👧 ❤️", "  two  spaces "]) expect(toTitle(title)).toBe(title)
  })

  test("[RT13] is cut between characters, and applying it twice changes nothing", () => {
    const long = toTitle("😀".repeat(MAX_TITLE_CHARS))
    expect(long).toBe("😀".repeat(MAX_TITLE_CHARS / 2))
    expect(toTitle(toTitle(HOSTILE))).toBe(toTitle(HOSTILE))
    expect(removeControls(HOSTILE)).toBe(CLEAN)
  })

  test("[RT13] of a new session is clean in the response, the list and the rows", async () => {
    const token = await tokenOf(CLAIMS.tenant, "titles")
    const made = await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ title: HOSTILE }) })
    expect(made.json.title).toBe(CLEAN)
    expect(await titleOf(made.json.id)).toBe(CLEAN)
    const list = await call("/v1/sessions", { token })
    expect(list.json.sessions).toMatchObject([{ id: made.json.id, title: CLEAN }])
  })

  test("[RT13] of a renamed session is clean; text with nothing visible is not a title", async () => {
    const token = await tokenOf(CLAIMS.tenant, CLAIMS.user)
    const id = await makeSession(token)
    const renameSession = (title: string) =>
      call(`/v1/sessions/${id}`, { method: "PATCH", token, body: JSON.stringify({ title }) })
    expect((await renameSession(HOSTILE)).json).toEqual({ id, title: CLEAN })
    expect(await renameSession("\u202e \u0000")).toEqual(refusal(400, "field_invalid", "title"))
    expect(await titleOf(id)).toBe(CLEAN)
  })

  test("[RT13] from a first message is clean", async () => {
    const id = await freshSession("titles")
    const client = await connect(id)
    client.say({ type: "send", id: "q", content: `${HOSTILE} /say hi` })
    await client.untilEnd("q")
    expect(await titleOf(id)).toBe(`${CLEAN} /say hi`)
  })

  test("[RT13] from the model's tool is clean", async () => {
    const titles: string[] = []
    const tool = createRenameTool(async (title) => void titles.push(title))
    const runTool = (title: string) => tool.execute({ title }, {} as Parameters<typeof tool.execute>[1])
    expect(await runTool(HOSTILE)).toEqual({ title: CLEAN })
    expect(await runTool("\u202e")).toMatchObject({ error: expect.any(String) })
    expect(titles).toEqual([CLEAN])
  })

  test("[RT13] from an imported file is clean", async () => {
    const id = await freshSession("titles")
    const signature = { tip: null, title: HOSTILE, records: 1, algorithm: "HMAC-SHA256", value: "x" }
    await importFile(id, toJsonl({ type: "user_message", text: "Go" }, { type: "signature", ...signature }))
    expect(await titleOf(id)).toBe(CLEAN)
  })
})
