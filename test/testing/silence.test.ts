/**
 * silence.test.ts: tests an external producer that stops sending on an open connection, with a real server that has
 * short limits.
 */

import { type ClientRequest, request } from "node:http"
import { expect } from "vitest"
import { testInFull } from "../support/seeded.ts"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { PRODUCER_SILENCE_MS } from "../../shared/limits.ts"

const SCALE = 0.06
const SILENCE_MS = PRODUCER_SILENCE_MS * SCALE
const POLL = { timeout: 60_000, interval: 50 }

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms))

interface Producer {
  /** Returns the state of the producer's answer. */
  state(): Promise<{ status: string; reason: string | null }>
  /** Opens a request for records. Its body stays open until the caller ends it. */
  open(): ClientRequest
}

async function createProducer(cuecard: Cuecard): Promise<Producer> {
  const { id } = await cuecard.createSession()
  const owner = { authorization: `Bearer ${cuecard.token}`, "content-type": "application/json" }
  const tokenAt = `${cuecard.url}/v1/sessions/${id}/external-token`
  const given = await fetch(tokenAt, { method: "POST", headers: owner, body: "{}" })
  const headers = { authorization: `Bearer ${((await given.json()) as { token: string }).token}` }
  const at = `${cuecard.url}/external/sessions/${id}/events?responseId=r1`
  return {
    state: async () => (await (await fetch(at, { headers })).json()) as { status: string; reason: string | null },
    open() {
      const opened = request(at, { method: "POST", headers })
      opened.on("response", (response) => response.resume())
      opened.on("error", () => {})
      opened.write('{"type":"text_delta","delta":"hi","n":1}\n')
      return opened
    },
  }
}

const GONE = { status: "interrupted", reason: "producer_gone" }

testInFull(
  "[EX8] a silent producer is abandoned within a minute, even while its body is open; an active one isn't",
  async () => {
    const cuecard = await startCuecard({ vars: { TIME_SCALE: String(SCALE) } })
    try {
      const [silent, other] = [await createProducer(cuecard), await createProducer(cuecard)]
      const body = silent.open()
      // Send for longer in total than the allowed silence.
      for (let signs = 0; signs < 4; signs++) {
        await sleep(0.6 * SILENCE_MS)
        expect((await silent.state()).status).toBe("running")
        body.write("\n")
      }
      // The other producer begins later, without an open body. By the time it ends, the silent one must have been
      // abandoned.
      await sleep(0.5 * SILENCE_MS)
      other.open().end()
      await expect.poll(async () => (await other.state()).status, POLL).toBe("running")
      await expect.poll(() => other.state(), POLL).toMatchObject(GONE)
      expect(await silent.state()).toMatchObject(GONE)
      body.destroy()
    } finally {
      await cuecard.close()
    }
  },
)
