/** render-schedule.test.ts: when the changes of a live conversation are rendered. */

import { afterEach, expect, test, vi } from "vitest"
import { noteKeyPress, scheduleRender } from "../../client/app/render-schedule.ts"

let frames: FrameRequestCallback[] = []

/** Runs what was requested for the next frame, which begins at `at`. */
function playFrame(at: number): void {
  const requested = frames
  frames = []
  for (const callback of requested) callback(at)
}

function stubFrames(): void {
  frames = []
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => frames.push(callback))
}

afterEach(() => {
  noteKeyPress({ timeStamp: 0 })
  vi.unstubAllGlobals()
})

test("[PF15] a change is rendered in the next frame", () => {
  stubFrames()
  const render = vi.fn()
  scheduleRender(render)
  expect(render).not.toHaveBeenCalled()
  playFrame(1_000)
  expect(render).toHaveBeenCalledOnce()
})

test("[PF15] a change waits for one more frame after a key press, even if another key is pressed meanwhile", () => {
  stubFrames()
  const render = vi.fn()
  scheduleRender(render)
  noteKeyPress({ timeStamp: 995 })
  playFrame(1_000)
  expect(render).not.toHaveBeenCalled()
  noteKeyPress({ timeStamp: 1_010 })
  playFrame(1_016)
  expect(render).toHaveBeenCalledOnce()
})

test("[PF15] an earlier key press delays nothing", () => {
  stubFrames()
  const render = vi.fn()
  noteKeyPress({ timeStamp: 900 })
  scheduleRender(render)
  playFrame(1_000)
  expect(render).toHaveBeenCalledOnce()
})
