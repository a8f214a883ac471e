/** silence-watch.ts: aborts a model call that receives nothing for too long. Source: SPEC MO8. */

export interface SilenceLimits {
  readonly firstByteMs: number
  readonly idleMs: number
}

export interface SilenceWatch {
  /** Aborted by the request's signal and by silence. */
  readonly signal: AbortSignal
  /** Whether silence aborted the signal. */
  isSilent(): boolean
  /** Called for each part. */
  restartTimer(): void
  onStop(stop: () => void): void
  end(): void
}

/** Aborts a call that receives nothing for too long: before the first part, and between two parts. */
export function watchSilence(signal: AbortSignal, { firstByteMs, idleMs }: SilenceLimits): SilenceWatch {
  const abort = new AbortController()
  const abortCall = (): void => abort.abort()
  let isSilent = false
  const startTimer = (ms: number): ReturnType<typeof setTimeout> =>
    setTimeout(() => {
      isSilent = true
      abort.abort()
    }, ms)
  let timer = startTimer(firstByteMs)
  signal.addEventListener("abort", abortCall, { once: true })
  return {
    signal: abort.signal,
    isSilent: () => isSilent,
    restartTimer() {
      clearTimeout(timer)
      timer = startTimer(idleMs)
    },
    onStop: (stop) => abort.signal.addEventListener("abort", stop, { once: true }),
    end() {
      clearTimeout(timer)
      signal.removeEventListener("abort", abortCall)
    },
  }
}
