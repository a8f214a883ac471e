/** body.test.ts: tests that an endless body over real HTTP is refused at the size limit and uses little memory. */

import { readFileSync } from "node:fs"
import { request } from "node:http"
import { expect, test } from "vitest"
import { startCuecard } from "cuecard/testing"
import { MAX_EXTERNAL_BODY_BYTES } from "../../shared/limits.ts"
import { everyNth } from "../support/seeded.ts"

const MB = 1024 * 1024
const CHUNK = Buffer.alloc(MB, "x")
/** Maximum growth of the process, in bytes. It allows for garbage that has not been collected yet. */
const MAX_GROWTH_BYTES = 128 * MB
const ENDLESS_BYTES = 1024 * MB

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024
}

const BODIES = [
  ["as one line", "", 64 * MB],
  ["as lines that are not records", "\n", MAX_EXTERNAL_BODY_BYTES],
] as const

test.each(everyNth(BODIES, 2))(
  "[EX22] a one-gigabyte body sent %s is always refused long before it ends, and isn't stored",
  async (_name, end, max) => {
    const cuecard = await startCuecard({})
    try {
      const { id } = await cuecard.createSession()
      const token = await cuecard.tokenFor({ scope: "external", session: id })
      const sendOnce = async (tries = 8): Promise<number> => {
        let sent = 0
        const answered = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
          const headers = { authorization: `Bearer ${token}` }
          const sending = request(`${cuecard.url}/external/sessions/${id}/events`, { method: "POST", headers })
          let isAnswered = false
          const pourBytes = (): void => {
            while (!isAnswered && sent < ENDLESS_BYTES) {
              sent += MB
              if (!sending.write(end === "" ? CHUNK : Buffer.concat([CHUNK, Buffer.from(end)]))) {
                sending.once("drain", pourBytes)
                return
              }
            }
          }
          sending.on("error", (error) => !isAnswered && reject(error))
          sending.on("response", (response) => {
            isAnswered = true
            let text = ""
            response.on("data", (chunk) => {
              text += String(chunk)
            })
            // The connection can be closed in the middle of the response, because the client is still writing.
            response.on("error", reject)
            response.on("end", () => {
              sending.destroy()
              resolve({ status: response.statusCode, text })
            })
          })
          pourBytes()
        }).catch((error: NodeJS.ErrnoException) => {
          // A client that is still writing when the connection is closed may lose the response.
          if (tries > 1 && (error.code === "EPIPE" || error.code === "ECONNRESET")) return null
          throw error
        })
        if (answered === null) return await sendOnce(tries - 1)
        expect(answered.status).toBe(413)
        expect(JSON.parse(answered.text)).toMatchObject({ code: "body_too_large" })
        expect(sent).toBeLessThan(max + 64 * MB)
        return memoryOf(cuecard.pid())
      }
      // Measure after the first request, which warms up the process.
      const first = await sendOnce()
      expect((await sendOnce()) - first).toBeLessThan(MAX_GROWTH_BYTES)
    } finally {
      await cuecard.close()
    }
  },
)
