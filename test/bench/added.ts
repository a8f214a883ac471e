/**
 * added.ts: measures how much latency the server adds between the model sending a delta and the delta arriving on a
 * socket.
 *
 * A window opens with its first delta, and is sent DELTA_WINDOW_MS later, together with the deltas that arrived in
 * between. So the latency added to the window is the same for all its deltas: arrival − departure of the first delta −
 * DELTA_WINDOW_MS. Once an answer has been visible for LONG_WINDOW_AFTER_MS, its windows are excluded, because they are
 * longer but cost the same. The latency includes the network, parsing, sanitising, the write and the output gate. There
 * are two floors. The first forwards each chunk at once over the same network. The second collects windows, writes each
 * window as a row and then sends it, which is the minimum cost of storing text before showing it.
 */

import { startCuecard } from "cuecard/testing"
import { DELTA_WINDOW_MS, LONG_WINDOW_AFTER_MS } from "../../shared/delta-window.ts"
import { nextId, openSession } from "./client.ts"
import { isFloorEnd, startFloor } from "./floor.ts"
import { listenUntil, median, formatMs, percentile, sleep } from "./measure.ts"
import { stampsIn, startStampingModel } from "./stamps.ts"
import type { Row } from "./table.ts"

/**
 * The number of concurrent streams of each kind. Their starts are spread evenly over one window, and each stream sends
 * 50 deltas a second.
 */
const STREAMS = 4
const EVERY_MS = 20
const DELTAS = 150
/**
 * Safety margin, in milliseconds. It is needed because the answer becomes visible only a few milliseconds after its
 * first delta was sent.
 */
const MARGIN_MS = 50
/** The number of passes. The first one is a warm-up. */
const PASSES = 11

interface Samples {
  /** Latencies of deltas that were forwarded at once. */
  readonly first: number[]
  /** Latencies of windows, minus DELTA_WINDOW_MS. */
  readonly windows: number[]
}

/** The latencies from one pass. All kinds run at once, so that other load on the machine affects them equally. */
interface Passes {
  readonly ours: Samples
  /** The first floor, which forwards chunk by chunk. */
  readonly single: number[]
  /** The second floor, which collects, writes, and then sends. */
  readonly written: Samples
}

const createSamples = (): Samples => ({ first: [], windows: [] })

/** Calls `take` for every frame of a stream, with its arrival time. Returns a function that stops the calls. */
function collect(socket: WebSocket, take: (text: string, now: number) => void): () => void {
  const hear = (event: MessageEvent): void => take(String(event.data), performance.now())
  socket.addEventListener("message", hear)
  return () => socket.removeEventListener("message", hear)
}

/** Reads the stamps in a frame that contains a window. */
function takeWindow({ first, windows }: Samples, text: string, now: number): void {
  const stamps = stampsIn(text)
  const [from, to] = [stamps[0], stamps.at(-1)]
  if (from === undefined || to === undefined) return
  if (from.n === 0 && to.n === 0) first.push(now - from.at)
  // The end of the answer closes the last window early.
  else if (to.n < DELTAS - 1 && from.n * EVERY_MS < LONG_WINDOW_AFTER_MS - MARGIN_MS)
    windows.push(now - from.at - DELTA_WINDOW_MS)
}

async function streamOurs(socket: WebSocket, samples: Samples): Promise<void> {
  const stop = collect(socket, (text, now) => {
    if (text.startsWith('{"type":"ops"')) takeWindow(samples, text, now)
  })
  const ended = listenUntil(
    socket,
    () => true,
    (text) => text.includes('"op":"end"'),
  )
  socket.send(JSON.stringify({ type: "send", id: nextId(), content: "Go." }))
  await ended
  stop()
}

async function streamFloor(
  socket: WebSocket,
  request: object,
  take: (text: string, now: number) => void,
): Promise<void> {
  const stop = collect(socket, take)
  const ended = listenUntil(socket, () => true, isFloorEnd)
  socket.send(JSON.stringify(request))
  await ended
  stop()
}

/** Starts a stream on each socket of a kind, each slightly later than the previous one. */
async function streamAll(sockets: readonly WebSocket[], stream: (socket: WebSocket) => Promise<void>): Promise<void> {
  const streams = sockets.map(async (socket, i) => {
    await sleep((i * DELTA_WINDOW_MS) / STREAMS)
    await stream(socket)
  })
  await Promise.all(streams)
}

function openAll(open: (i: number) => Promise<WebSocket>): Promise<WebSocket[]> {
  return Promise.all(Array.from({ length: STREAMS }, (_, i) => open(i)))
}

async function measure(): Promise<Passes[]> {
  const model = await startStampingModel(DELTAS, EVERY_MS)
  const floor = await startFloor()
  const vars = { MODEL: "openai", MODEL_BASE_URL: model.baseUrl, MODEL_NAME: "stamps" }
  const cuecard = await startCuecard({ port: 0, vars })
  const passed = await openAll((i) => floor.open(`passed-${i}`))
  const gathered = await openAll((i) => floor.open(`gathered-${i}`))
  const sockets = await openAll(() => openSession(cuecard))
  const upstream = `${model.baseUrl}/chat/completions`
  const passes: Passes[] = []
  for (let i = 0; i < PASSES; i++) {
    const [ours, single, written]: [Samples, number[], Samples] = [createSamples(), [], createSamples()]
    await Promise.all([
      streamAll(passed, (socket) =>
        streamFloor(socket, { upstream }, (text, now) => single.push(...stampsIn(text).map((stamp) => now - stamp.at))),
      ),
      streamAll(gathered, (socket) =>
        streamFloor(socket, { upstream, windowMs: DELTA_WINDOW_MS }, (text, now) => takeWindow(written, text, now)),
      ),
      streamAll(sockets, (socket) => streamOurs(socket, ours)),
    ])
    if (i > 0) passes.push({ ours, single, written })
  }
  for (const socket of [...passed, ...gathered, ...sockets]) socket.close()
  await Promise.all([floor.close(), cuecard.close()])
  model.close()
  return passes
}

/**
 * Formats the medians across the passes, so that a single pass that other load has disturbed has little effect.
 */
function formatPasses(passes: readonly (readonly number[])[]): string {
  const [p50, p99] = [50, 99].map((p) => formatMs(median(passes.map((values) => percentile(values, p)))))
  return `p50 ${p50}, p99 ${p99}`
}

export async function benchAdded(): Promise<Row[]> {
  const passes = await measure()
  const windows = passes.map(({ ours }) => ours.windows)
  const over = (floorOf: (pass: Passes) => readonly number[]): string => {
    const gaps = [50, 99].map((p) =>
      passes.map((pass) => percentile(pass.ours.windows, p) - percentile(floorOf(pass), p)),
    )
    return gaps.map((gap) => formatMs(median(gap))).join(" and ")
  }
  const single = formatPasses(passes.map((pass) => pass.single))
  const written = formatPasses(passes.map((pass) => pass.written.windows))
  return [
    {
      what: `model to socket, above the window of ${DELTA_WINDOW_MS} ms (${windows.flat().length} windows)`,
      ours: `${formatPasses(windows)};  over the written floor ${over((pass) => pass.written.windows)}, over the forwarding floor ${over((pass) => pass.single)}`,
      goal: "≤ 1 ms and ≤ 5 ms over the floor",
      peer: "",
      floor: `${written} collected and written; ${single} forwarded`,
    },
    {
      what: "model to socket, the first delta of a turn",
      ours: formatPasses(passes.map(({ ours }) => ours.first)),
      goal: "",
      floor: `${single} passed on`,
      peer: "",
    },
  ]
}
