/** tenant-job.ts: follows an export, an import or an erasure until it ends. */

import { isJsonObject } from "../../shared/json.ts"
import { type JsonObject, UsageError } from "./tenant-request.ts"

/** Time between two requests for the progress, in milliseconds. */
const POLL_MS = 1_000

/**
 * Waits until a job has ended, and reports its progress on standard error. Throws an error with the server's message if
 * the job failed.
 */
export async function followJob(read: () => Promise<JsonObject>, verb: string): Promise<JsonObject> {
  let reported = ""
  for (;;) {
    const job = await read()
    if (job["state"] !== "running") {
      if (job["state"] === "done") return job
      const { fault } = job
      throw new UsageError(isJsonObject(fault) ? `${fault["text"]} (${fault["code"]})` : `It is ${job["state"]}.`)
    }
    const tally = formatTally(job)
    if (tally !== reported) console.error(`${verb}: ${tally}`)
    reported = tally
    await new Promise((done) => setTimeout(done, POLL_MS))
  }
}

export function formatTally({ tally }: JsonObject): string {
  const { users = 0, sessions = 0, files = 0, bytes = 0 } = isJsonObject(tally) ? tally : {}
  const counted = [`${users} users`, `${sessions} conversations`, `${files} files (${bytes} bytes)`]
  return counted.map((text) => text.replace(/^1 (\w+)s\b/, "1 $1")).join(", ")
}
