/**
 * measure.ts: computes medians, reads the processor time and memory of workerd, and measures what arrives on a socket.
 */

import { readFileSync } from "node:fs"

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** Returns the given percentile of the values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(Math.floor((sorted.length * percent) / 100), sorted.length - 1)] ?? Number.NaN
}

/**
 * Returns the 95 % confidence interval of the median, whose bounds are two of the sorted values. Requires at least a
 * hundred values.
 */
export function findMedianInterval(values: readonly number[]): readonly [number, number] {
  const sorted = [...values].sort((one, other) => one - other)
  const distance = (1.96 * Math.sqrt(sorted.length)) / 2
  const at = (rank: number): number => sorted[Math.round(rank)] ?? Number.NaN
  return [at(sorted.length / 2 - distance - 1), at(sorted.length / 2 + distance)]
}

export const formatMs = (value: number): string => `${value.toFixed(1)} ms`
export const formatKb = (bytes: number): string => `${(bytes / 1000).toFixed(1)} KB`
export const formatMb = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Clock ticks per second in /proc, which is fixed on Linux. */
const TICKS_PER_SECOND = 100

/** Returns the processor time of a process so far, user and system, in milliseconds. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000
}

/** Returns the resident memory of a process, in bytes. */
export function rssBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
}

/** Returns the peak resident memory of a process, in bytes. */
export function peakBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
}

export interface Exchange {
  readonly firstMs: number
  readonly wholeMs: number
  /** Total bytes of the frames received. */
  readonly bytes: number
  readonly frames: number
}

/**
 * Sends one frame and measures the time to the first delta (`isFirst`) and to the end (`isLast`).
 * Rejects if the socket closes before the end.
 */
export function sendAndAwait(
  socket: WebSocket,
  frame: string,
  isFirst: (text: string) => boolean,
  isLast: (text: string) => boolean,
): Promise<Exchange> {
  const done = listenUntil(socket, isFirst, isLast)
  socket.send(frame)
  return done
}

/** Like `sendAndAwait`, but for a frame that another client sends. */
export function listenUntil(
  socket: WebSocket,
  isFirst: (text: string) => boolean,
  isLast: (text: string) => boolean,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    let [firstMs, bytes, frames] = [Number.NaN, 0, 0]
    const handleMessage = (event: MessageEvent): void => {
      const text = String(event.data)
      bytes += Buffer.byteLength(text)
      frames += 1
      if (Number.isNaN(firstMs) && isFirst(text)) firstMs = performance.now() - started
      if (!isLast(text)) return
      socket.removeEventListener("message", handleMessage)
      socket.removeEventListener("close", onClose)
      resolve({ firstMs, wholeMs: performance.now() - started, bytes, frames })
    }
    const onClose = ({ code, reason }: CloseEvent): void =>
      reject(new Error(`closed before the end: ${code} ${reason}`))
    socket.addEventListener("message", handleMessage)
    socket.addEventListener("close", onClose)
  })
}

export function untilOpen(socket: WebSocket): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    socket.addEventListener("open", () => resolve(socket), { once: true })
    socket.addEventListener("error", () => reject(new Error("the socket did not open")), { once: true })
  })
}
