/**
 * remote-fetch.ts: fetches media from a URL in a model's text.
 *
 * Every URL, including redirects, is checked. The request contains nothing about the user. The type is detected from
 * the bytes, and size and time are limited.
 */

import { fail, type RemoteFlaw, type Result, succeed } from "../../../shared/fault.ts"
import { MAX_REMOTE_REDIRECTS, FILE_TYPE_BYTES } from "../../../shared/asset-limits.ts"
import { checkPublicUrl } from "../../../shared/text/public-url.ts"
import { type FileType, detectFileType } from "../../asset/detect-file-type.ts"
import { BodyReader } from "../../platform/read-bounded.ts"
import type { TimeLimits } from "../../platform/time-limits.ts"

export interface RemoteMedia {
  readonly type: FileType
  /** In bytes; null if the server does not announce it. */
  readonly size: number | null
  /** Reading the body fails if it is larger than `type.maxBytes`, or takes too long. */
  readonly body: ReadableStream<Uint8Array>
}

/**
 * The request headers, which are the same for every user. Without `x-real-ip`, the platform would send the user's IP
 * address.
 */
const HEADERS = { "user-agent": "Cuecard-Media/1", accept: "image/*, audio/*, video/*", "x-real-ip": "::" }

/**
 * Whether a request comes from this module. A remote URL may point back to this deployment, which would cause an
 * endless loop.
 */
export function isOwnRequest(userAgent: string | undefined): boolean {
  return userAgent === HEADERS["user-agent"]
}

const MEDIA_KINDS: ReadonlySet<FileType["kind"]> = new Set(["image", "audio", "video"])

function refuseRemote(because: RemoteFlaw) {
  return fail({ reason: "remote_refused", because } as const)
}

/**
 * Fetches a URL, and returns once the first bytes of the response have been read. The caller streams the rest.
 * `isAllowedHost` restricts redirects. In tests, requests go to `upstream` instead.
 *
 * Errors: `url_refused` for the URL or a redirect; `remote_refused` with the reason.
 */
export async function fetchRemote(
  url: string,
  times: TimeLimits,
  isAllowedHost: (host: string) => boolean,
  upstream?: string,
): Promise<Result<RemoteMedia>> {
  const controller = new AbortController()
  const totalTimer = setTimeout(() => controller.abort(), times.remoteMs)
  const firstByteTimer = setTimeout(() => controller.abort(), times.remoteFirstByteMs)
  const readAfterRedirects = async (): Promise<Result<RemoteMedia>> => {
    const response = await followRedirects(url, controller.signal, isAllowedHost, upstream)
    return response.ok ? await readRemote(response.value, controller, times, totalTimer) : response
  }
  const remote = await readAfterRedirects().catch(() =>
    refuseRemote(controller.signal.aborted ? "timeout" : "unreachable"),
  )
  clearTimeout(firstByteTimer)
  if (remote.ok) return remote
  controller.abort()
  clearTimeout(totalTimer)
  return remote
}

async function followRedirects(
  url: string,
  signal: AbortSignal,
  isAllowedHost: (host: string) => boolean,
  upstream?: string,
): Promise<Result<Response>> {
  let next = url
  for (let hop = 0; hop <= MAX_REMOTE_REDIRECTS; hop++) {
    const checked = checkPublicUrl(next)
    if (!checked.ok) return checked
    const { href, host } = checked.value
    if (hop > 0 && !isAllowedHost(host)) return refuseRemote("redirects")
    const target = upstream === undefined ? href : `${upstream}/remote/${encodeURIComponent(href)}`
    const response = await fetch(target, { headers: HEADERS, redirect: "manual", signal })
    if (![301, 302, 303, 307, 308].includes(response.status)) return succeed(response)
    await response.body?.cancel()
    const location = response.headers.get("location")
    if (location === null || !URL.canParse(location, href)) return refuseRemote("unreachable")
    next = new URL(location, href).href
  }
  return refuseRemote("redirects")
}

async function readRemote(
  response: Response,
  controller: AbortController,
  times: TimeLimits,
  totalTimer: ReturnType<typeof setTimeout>,
): Promise<Result<RemoteMedia>> {
  if (response.status !== 200 || response.body === null) return refuseRemote("unreachable")
  const source = new BodyReader(response.body)
  const type = detectFileType(await source.peek(FILE_TYPE_BYTES))
  if (type === null || !MEDIA_KINDS.has(type.kind)) return refuseRemote("type")
  const size = readContentLength(response.headers)
  if (size !== null && size > type.maxBytes) return refuseRemote("size")
  const bounds = { maxBytes: type.maxBytes, size, idleMs: times.idleMs }
  const body = createBoundedBody(source, bounds, {
    end: () => clearTimeout(totalTimer),
    abort: () => controller.abort(),
  })
  return succeed({ type, size, body })
}

/** Returns the length of the file; null if unknown. The length of a compressed body is not that of the file. */
function readContentLength(headers: Headers): number | null {
  const length = headers.has("content-encoding") ? null : headers.get("content-length")
  return length !== null && /^\d{1,15}$/.test(length) ? Number(length) : null
}

interface BodyBounds {
  readonly maxBytes: number
  /** The announced size; null if unknown. */
  readonly size: number | null
  readonly idleMs: number
}

interface FetchControl {
  /** Must be called when the fetch has ended, successfully or not. */
  readonly end: () => void
  readonly abort: () => void
}

/**
 * Passes the body on. The returned stream fails if the body ends before its announced size, is too large, or stalls.
 */
function createBoundedBody(
  source: BodyReader,
  { maxBytes, size, idleMs }: BodyBounds,
  control: FetchControl,
): ReadableStream<Uint8Array> {
  let length = 0
  const abortFetch = (): void => {
    control.end()
    control.abort()
  }
  return new ReadableStream<Uint8Array>({
    async pull(sink) {
      const idleTimer = setTimeout(abortFetch, idleMs)
      try {
        const chunk = await source.read()
        if (chunk === null) {
          control.end()
          if (size === null || length === size) return sink.close()
          return sink.error(new Error("cut off"))
        }
        length += chunk.length
        if (length > maxBytes) throw new Error("too large")
        sink.enqueue(chunk)
      } catch (error) {
        abortFetch()
        sink.error(error)
      } finally {
        clearTimeout(idleTimer)
      }
    },
    cancel: abortFetch,
  })
}
