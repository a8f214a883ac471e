/** admin-state.ts: the state shared by the sections of the admin page: loaded data, running actions, and the notice. */

import { type Signal, signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type { Identity } from "../account/identity.ts"
import { describeError } from "../net/http-request.ts"
import type { AdminApi } from "./admin-api.ts"

export interface AdminContext {
  readonly api: AdminApi
  readonly identity: Identity
}

/** The result of the last action, shown on the page and announced by screen readers. */
export const notice: Signal<string> = signal("")

export interface Loaded<T> {
  /** Null until the data has been loaded. */
  readonly value: T | null
  /** The error message of the failed request; null if the last request did not fail. */
  readonly fault: string | null
  /** Reloads the data. The old value remains visible in the meantime. */
  reload(): Promise<void>
  set(value: T): void
  /** Applies a change to the latest data. Does nothing until data has been loaded. */
  change(change: (value: T) => T): void
}

/** Loads data when the component is mounted, and whenever `key` changes. */
export function useLoaded<T>(load: () => Promise<T>, key = ""): Loaded<T> {
  const value = useSignal<T | null>(null)
  const fault = useSignal<string | null>(null)
  // Not a signal: an effect that calls `reload` would depend on the signal and reload endlessly.
  const newest = useRef(0)
  const reload = async (): Promise<void> => {
    const request = ++newest.current
    try {
      const loaded = await load()
      if (request !== newest.current) return
      fault.value = null
      value.value = loaded
    } catch (error) {
      if (request === newest.current) fault.value = describeError(error)
    }
  }
  useEffect(() => {
    value.value = null
    void reload()
  }, [key])
  const set = (next: T): void => {
    newest.current++
    value.value = next
  }
  const change = (update: (value: T) => T): void => {
    const before = value.peek()
    if (before !== null) set(update(before))
  }
  return { value: value.value, fault: fault.value, reload, set, change }
}

export interface ActionState {
  readonly isRunning: boolean
  readonly fault: string | null
  /** Runs the action unless another one is already running. Returns whether it succeeded. */
  run(action: () => Promise<void>): Promise<boolean>
}

export function useAction(): ActionState {
  const isRunning = useSignal(false)
  const fault = useSignal<string | null>(null)
  return {
    isRunning: isRunning.value,
    fault: fault.value,
    async run(action) {
      if (isRunning.peek()) return false
      isRunning.value = true
      fault.value = null
      notice.value = ""
      try {
        await action()
        return true
      } catch (error) {
        fault.value = describeError(error)
        return false
      } finally {
        isRunning.value = false
      }
    },
  }
}

/** The interval between requests for the progress of a job, in milliseconds. */
const POLL_MS = 2_000

/** Reloads periodically while a job is running. */
export function usePolling(isRunning: boolean, reload: () => Promise<void>): void {
  const newest = useRef(reload)
  newest.current = reload
  useEffect(() => {
    if (!isRunning) return undefined
    const timer = setInterval(() => void newest.current(), POLL_MS)
    return () => clearInterval(timer)
  }, [isRunning])
}
