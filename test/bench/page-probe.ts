/**
 * page-probe.ts: opens a page in Chromium with a slower processor and network, and measures what its main thread does.
 */

import type { Cuecard } from "cuecard/testing"
import type { Browser, CDPSession, Page } from "playwright-core"

/** A phone's network: 1.6 Mbit/s down, 750 kbit/s up, 150 ms per round trip. */
const SLOW_4G = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 }

export interface Conditions {
  /** The factor by which the processor is slowed down; 1 if absent. */
  readonly cpu?: number
  readonly isSlowNetwork?: boolean
  /**
   * Whether `readWork` counts the main thread's processor time, so that other load on the machine doesn't matter.
   * Otherwise, it counts elapsed time. The effect of `cpu` is visible only in elapsed time.
   */
  readonly isProcessorTime?: boolean
}

/** Total times since the page was opened, in milliseconds. */
export interface Work {
  readonly script: number
  readonly layout: number
  readonly style: number
  /** All tasks of the main thread. */
  readonly tasks: number
}

export interface Probe {
  readonly page: Page
  readonly cdp: CDPSession
  setConditions(conditions: Conditions): Promise<void>
  readWork(): Promise<Work>
  /** Collects garbage, and then returns the number of nodes and the size of the heap. */
  readMemory(): Promise<{ readonly nodes: number; readonly heapBytes: number }>
  close(): Promise<void>
}

declare global {
  /** The measurements that the script in the page takes. */
  var pageProbe: {
    /** Time of the largest contentful paint, in milliseconds. */
    lcp: number
    /** Each interaction with its event name and the time until the next frame, in milliseconds. */
    readonly interactions: { readonly name: string; readonly ms: number }[]
    /**
     * For each key press: the main thread's time for its event and its frame, and the time to that frame, in
     * milliseconds.
     */
    readonly keys: { readonly busy: number; readonly toFrame: number }[]
  }
}

/** Runs in the page before its own scripts. */
function measureInPage(): void {
  globalThis.pageProbe = { lcp: 0, interactions: [], keys: [] }
  new PerformanceObserver((list) => {
    pageProbe.lcp = list.getEntries().at(-1)?.startTime ?? pageProbe.lcp
  }).observe({ type: "largest-contentful-paint", buffered: true })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { readonly interactionId?: number })[])
      if ((entry.interactionId ?? 0) !== 0) pageProbe.interactions.push({ name: entry.name, ms: entry.duration })
  }).observe({ type: "event", buffered: true, durationThreshold: 16 } as PerformanceObserverInit)
  addEventListener(
    "keydown",
    (event) => {
      const started = performance.now()
      const delay = started - event.timeStamp
      let handled = started
      const { port1, port2 } = new MessageChannel()
      addEventListener("input", () => (handled = performance.now()), { once: true })
      requestAnimationFrame((frame) => {
        const frameStart = performance.now()
        port1.onmessage = () => {
          const end = performance.now()
          pageProbe.keys.push({
            busy: delay + (handled - started) + (end - frameStart),
            toFrame: frame - event.timeStamp,
          })
        }
        port2.postMessage(null)
      })
    },
    { capture: true },
  )
}

export async function openProbe(
  browser: Browser,
  { url }: Cuecard,
  at: string,
  conditions: Conditions = {},
): Promise<Probe> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  const cdp = await context.newCDPSession(page)
  await cdp.send("Performance.enable", {
    timeDomain: conditions.isProcessorTime === true ? "threadTicks" : "timeTicks",
  })
  await cdp.send("Network.enable")
  await page.addInitScript(measureInPage)
  const setConditions = async ({ cpu = 1, isSlowNetwork = false }: Conditions): Promise<void> => {
    const fast = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 }
    await cdp.send("Network.emulateNetworkConditions", isSlowNetwork ? SLOW_4G : fast)
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: cpu })
  }
  const readMetrics = async (): Promise<ReadonlyMap<string, number>> => {
    const { metrics } = await cdp.send("Performance.getMetrics")
    return new Map(metrics.map(({ name, value }) => [name, value]))
  }
  await setConditions(conditions)
  await page.goto(`${url}/${at}`, { waitUntil: "commit" })
  return {
    page,
    cdp,
    setConditions,
    async readWork() {
      const metrics = await readMetrics()
      const readMs = (name: string): number => (metrics.get(name) ?? 0) * 1000
      const [script, layout] = [readMs("ScriptDuration"), readMs("LayoutDuration")]
      return { script, layout, style: readMs("RecalcStyleDuration"), tasks: readMs("TaskDuration") }
    },
    async readMemory() {
      await cdp.send("HeapProfiler.collectGarbage")
      const metrics = await readMetrics()
      return { nodes: metrics.get("Nodes") ?? 0, heapBytes: metrics.get("JSHeapUsedSize") ?? 0 }
    },
    close: () => context.close(),
  }
}

export function subtractWork(after: Work, before: Work): Work {
  return {
    script: after.script - before.script,
    layout: after.layout - before.layout,
    style: after.style - before.style,
    tasks: after.tasks - before.tasks,
  }
}
