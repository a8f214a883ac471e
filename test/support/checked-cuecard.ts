/**
 * checked-cuecard.ts: wraps `cuecard/testing` for this repository's tests. Every server's log lines are checked for
 * content. Spans and data points are written as log lines too. All text that the tests send through `fetch` and sockets
 * is recorded for the check.
 */

import type { Build } from "../../testing/built-worker.ts"
import { type Cuecard, type CuecardOptions, type Identity, startCuecard as start } from "../../testing/index.ts"
import { checkLine, noteAddress, noteContent, noteJson } from "./log-check.ts"

export * from "../../testing/index.ts"

const TELEMETRY_VARS = { SPANS: "log", SPAN_SAMPLING: "1", POINTS: "log" }

export async function startCuecard(options: CuecardOptions = {}, build?: Build): Promise<Cuecard> {
  watchRequests()
  const onLog = (line: string): void => {
    checkLine(line)
    options.onLog?.(line)
  }
  const checked = { ...options, onLog, vars: { ...TELEMETRY_VARS, ...options.vars } }
  const cuecard = await (build === undefined ? start(checked) : start(checked, build))
  noteContent(cuecard.token)
  const tokenFor = async (identity?: Identity): Promise<string> => {
    const token = await cuecard.tokenFor(identity)
    noteContent(token)
    return token
  }
  return { ...cuecard, tokenFor }
}

let isWatching = false

/** Records the text that this process sends, and the pages of history and signed URLs that it receives. */
function watchRequests(): void {
  if (isWatching) return
  isWatching = true
  const { fetch } = globalThis
  globalThis.fetch = async (input, init) => {
    noteAddress(String(input instanceof Request ? input.url : input))
    noteJson(init?.body)
    const response = await fetch(input, init)
    if (/\/(?:recent|sign)\b/.test(response.url))
      response
        .clone()
        .text()
        .then(noteJson, () => {})
    return response
  }
  const { send } = WebSocket.prototype
  WebSocket.prototype.send = function (this: WebSocket, data) {
    noteJson(data)
    send.call(this, data)
  }
}
