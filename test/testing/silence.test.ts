/** silence.test.ts: a silent external producer with an open connection: a real server, with shortened times. */

import { request } from "node:http"
import { expect, test } from "vitest"
import { startCuecard } from "cuecard/testing"
import { PRODUCER_SILENCE_MS } from "../../shared/limits.ts"

const SCALE = 0.06

test("[EX8] a silent producer is ended within a minute, also while its body is open, and an active one isn't", async () => {
  const cuecard = await startCuecard({ vars: { TIME_SCALE: String(SCALE) } })
  try {
    const { id } = await cuecard.createSession()
    const owner = { authorization: `Bearer ${cuecard.token}`, "content-type": "application/json" }
    const tokenAt = `${cuecard.url}/v1/sessions/${id}/external-token`
    const given = await fetch(tokenAt, { method: "POST", headers: owner, body: "{}" })
    const headers = { authorization: `Bearer ${((await given.json()) as { token: string }).token}` }
    const at = `${cuecard.url}/external/sessions/${id}/events?responseId=r1`
    const stateNow = async () =>
      (await (await fetch(at, { headers })).json()) as { status: string; reason: string | null }
    const open = request(at, { method: "POST", headers })
    open.on("response", (response) => response.resume())
    open.on("error", () => {})
    open.write('{"type":"text_delta","delta":"hi","n":1}\n')
    const silenceMs = PRODUCER_SILENCE_MS * SCALE
    // Signs of life just within the time, so that what is stored lags: none of them is too late.
    const living = Date.now() + 2.5 * silenceMs
    let last = Date.now()
    while (Date.now() < living) {
      await new Promise((resolve) => setTimeout(resolve, 0.15 * silenceMs))
      if (Date.now() - last < 0.8 * silenceMs) continue
      expect((await stateNow()).status).toBe("running")
      open.write("\n")
      last = Date.now()
    }
    const since = last
    let state = await stateNow()
    while (state.status === "running" && Date.now() - since < 3 * silenceMs) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      state = await stateNow()
    }
    expect(state).toMatchObject({ status: "interrupted", reason: "producer_gone" })
    expect(Date.now() - since).toBeGreaterThan(0.9 * silenceMs)
    // Twice the silence is what it was when the end of a silent body counted as a sign of life.
    expect(Date.now() - since).toBeLessThan(1.6 * silenceMs)
    open.destroy()
  } finally {
    await cuecard.close()
  }
})
