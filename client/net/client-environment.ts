/**
 * client-environment.ts: the network, clock and rights that a client's controllers share.
 *
 * options of the page or of `cuecard/client` → ENVIRONMENT → session controllers, session list, uploads
 * The page and the package create their controllers with the same environment, so they behave alike. Source: SPEC SK2.
 */

import { computed, type ReadonlySignal, signal } from "@preact/signals"
import { nanoid } from "nanoid"
import type { PageSettings } from "../../shared/protocol/http-body.ts"
import { HttpApi, sessionPath } from "./api.ts"
import { RequestError } from "./http-request.ts"
import { sendWithRateLimitRetry } from "./rate-limit-retry.ts"
import { RequestHold } from "./request-hold.ts"
import { retryDelayMs } from "./retry-delay.ts"
import type { WebSocketEvents, WebSocketLike } from "./socket-link.ts"
import { readClaims, type TokenSourceDeps } from "./token-source.ts"

/** Default timeout of a request, in milliseconds: enough for a history page of one megabyte on a slow connection. */
const REQUEST_TIMEOUT_MS = 30_000

/** Settings that allow nothing. Used until the server's settings have arrived. */
export const EMPTY_SETTINGS: PageSettings = { media_hosts: [], embed_origins: [] }

/** The parts of a WebSocket that are used here. */
export interface OpenedSocket extends WebSocketLike {
  onopen: unknown
  onmessage: unknown
  onclose: unknown
  onerror: unknown
}

export interface EnvironmentOptions
  extends Pick<TokenSourceDeps, "tokenRoutes" | "getEmbeddedToken" | "onToken" | "onSignedOut"> {
  /** The server's origin, without a trailing slash. */
  readonly origin: string
  fetch(url: string, init: RequestInit): Promise<Response>
  readonly WebSocket: new (url: string, protocols: string[]) => OpenedSocket
}

export interface ClientEnvironment {
  readonly origin: string
  readonly api: HttpApi
  /** The tenant's settings. Nothing is allowed until `loadSettings` has succeeded. */
  readonly settings: ReadonlySignal<PageSettings>
  /**
   * True while the tenant is leaving, and for users who may only read. The server enforces this; the flag only avoids
   * requests that would be refused.
   */
  readonly isReadOnly: ReadonlySignal<boolean>
  /** Loads the settings, because they may have changed. Retries unless the server refuses the request. */
  loadSettings(): void
  onAccessUnsure(): void
  connect(session: string, protocols: string[], events: WebSocketEvents): WebSocketLike
  now(): number
  random(): number
  createId(): string
  setTimer(ms: number, callback: () => void): () => void
  /** Stops retrying. Requests in progress are completed. */
  close(): void
}

export function createEnvironment(options: EnvironmentOptions): ClientEnvironment {
  const { origin, WebSocket, onToken } = options
  const settings = signal(EMPTY_SETTINGS)
  const role = signal<unknown>(null)
  const hold = new RequestHold()
  let isClosed = false
  const loadSettings = async (attempt: number): Promise<void> => {
    try {
      if (!isClosed) settings.value = await api.getSettings()
    } catch (error) {
      if (error instanceof RequestError && error.status < 500 && error.status !== 429) return
      setTimer(retryDelayMs(attempt, Math.random()), () => void loadSettings(attempt + 1))
    }
  }
  const loadSettingsNow = (): void => void loadSettings(1)
  const api = new HttpApi({
    ...options,
    hold,
    now: Date.now,
    async fetch(path, init, timeoutMs = REQUEST_TIMEOUT_MS) {
      // Without a timeout, a network that drops packets could block the client for minutes.
      const sendOnce = (): Promise<Response> =>
        options.fetch(origin + path, { ...init, signal: createTimeout(timeoutMs, init.signal) })
      const response = await sendWithRateLimitRetry(hold, sendOnce)
      if (response.status === 403 && init.method !== undefined) loadSettingsNow()
      return response
    },
    async onToken(response) {
      await onToken?.(response)
      role.value = readClaims(response.token)["role"]
    },
  })
  return {
    origin,
    api,
    settings,
    isReadOnly: computed(() => settings.value.erases_at !== undefined || role.value === "viewer"),
    loadSettings: loadSettingsNow,
    onAccessUnsure: loadSettingsNow,
    connect: (session, protocols, events) =>
      openSocket(new WebSocket(origin.replace(/^http/, "ws") + sessionPath(session, "/socket"), protocols), events),
    now: Date.now,
    random: Math.random,
    createId: () => nanoid(),
    setTimer,
    close() {
      isClosed = true
    },
  }
}

function openSocket(socket: OpenedSocket, events: WebSocketEvents): WebSocketLike {
  socket.onopen = () => events.onOpen()
  socket.onmessage = ({ data }: { readonly data: unknown }) => events.onMessage(data)
  socket.onclose = ({ code }: { readonly code: number }) => events.onClose(code)
  // Nothing to do, because a close event follows. Some implementations throw an error that has no handler.
  socket.onerror = () => {}
  return socket
}

function createTimeout(ms: number, abortSignal: AbortSignal | null | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(ms)
  return abortSignal == null ? timeout : AbortSignal.any([abortSignal, timeout])
}

function setTimer(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}
