/**
 * remote-fetch.ts: fetches what an address of a model's text names, for a reader who asked for it.
 *
 * public URL → REMOTE FETCH → head, type, bounded bytes
 * Every address on the way is judged anew, nothing of the reader goes out, the type is read from the bytes, and size and
 * time are bounded while they come.
 */

import { fail, type RemoteFlaw, type Result, succeed } from "../../shared/fault.ts"
import { MAX_REMOTE_REDIRECTS, FILE_TYPE_BYTES } from "../../shared/limits.ts"
import { checkPublicUrl } from "../../shared/text/public-url.ts"
import { type FileType, detectFileType } from "../asset/detect-file-type.ts"
import type { TimeLimits } from "../platform/time-limits.ts"

export interface RemoteMedia {
  readonly type: FileType
  /** Bytes, where the other side says; null: nobody knows. */
  readonly size: number | null
  /** Breaks off where it is more than `type.max`, or takes too long. */
  readonly body: ReadableStream<Uint8Array>
}

/** Who asks, and for what; the same for every reader. The platform would write a reader's address in `x-real-ip`. */
const HEADERS = { "user-agent": "Cuecard-Media/1", accept: "image/*, audio/*, video/*", "x-real-ip": "::" }

/** Does one of us ask this? An address elsewhere may lead back here, and so on without end. */
export function isOwnRequest(userAgent: string | undefined): boolean {
  return userAgent === HEADERS["user-agent"]
}

const MEDIA_KINDS: ReadonlySet<FileType["kind"]> = new Set(["image", "audio", "video"])

function refuseRemote(because: RemoteFlaw) {
  return fail({ reason: "remote_refused", because } as const)
}

/**
 * Shapes  (URL, which hosts a redirect may lead to, where requests really go in tests) → what is there.
 * Errors  `url_refused`, of any address on the way; `remote_refused` and because of what.
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
  try {
    const followed = await followRedirects(url, controller.signal, isAllowedHost, upstream)
    if (!followed.ok) {
      controller.abort()
      clearTimeout(totalTimer)
      return followed
    }
    const remote = await readRemote(followed.value, controller, times, totalTimer)
    if (remote.ok) return remote
    controller.abort()
    clearTimeout(totalTimer)
    return remote
  } catch {
    const isLate = controller.signal.aborted
    controller.abort()
    clearTimeout(totalTimer)
    return refuseRemote(isLate ? "timeout" : "unreachable")
  } finally {
    clearTimeout(firstByteTimer)
  }
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
  const { body, headers, status } = response
  if (status !== 200 || body === null) return refuseRemote("unreachable")
  const reader = body.getReader()
  const { head, isDone } = await readHead(reader)
  const type = detectFileType(head)
  if (type === null || !MEDIA_KINDS.has(type.kind)) return refuseRemote("type")
  // What comes unpacked is of another length than is told.
  const contentLength = headers.has("content-encoding") ? null : headers.get("content-length")
  const size = contentLength !== null && /^\d{1,15}$/.test(contentLength) ? Number(contentLength) : null
  if (size !== null && size > type.maxBytes) return refuseRemote("size")
  const createBody = createBoundedBody(reader, head, isDone, {
    max: type.maxBytes,
    size,
    idleMs: times.idleMs,
    control: controller,
  })
  return succeed({ type, size, body: createBody(() => clearTimeout(totalTimer)) })
}

async function readHead(reader: ReadableStreamDefaultReader<Uint8Array>) {
  let head = new Uint8Array()
  let isDone = false
  while (head.length < FILE_TYPE_BYTES && !isDone) {
    const { done, value } = await reader.read()
    isDone = done
    if (value === undefined) continue
    const joined = new Uint8Array(head.length + value.length)
    joined.set(head)
    joined.set(value, head.length)
    head = joined
  }
  return { head, isDone }
}

interface BodyLimits {
  readonly max: number
  readonly size: number | null
  readonly idleMs: number
  readonly control: AbortController
}

/** The rest of it: an end before its told length, one byte too many and a long silence break it off. */
function createBoundedBody(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  head: Uint8Array,
  isDone: boolean,
  { max, size, idleMs, control }: BodyLimits,
) {
  return (onEnd: () => void): ReadableStream<Uint8Array> => {
    let bytes = head.length
    const finish = (sink: ReadableStreamDefaultController<Uint8Array>): void => {
      onEnd()
      if (size !== null && bytes !== size) sink.error(new Error("cut off"))
      else sink.close()
    }
    const abortBody = (): void => {
      onEnd()
      control.abort()
    }
    return new ReadableStream<Uint8Array>({
      start(sink) {
        if (head.length > 0) sink.enqueue(head)
        if (isDone) finish(sink)
      },
      async pull(sink) {
        const idle = setTimeout(abortBody, idleMs)
        try {
          const { done, value } = await reader.read()
          if (done) return finish(sink)
          bytes += value.length
          if (bytes > max) throw new Error("too large")
          sink.enqueue(value)
        } catch (error) {
          abortBody()
          sink.error(error)
        } finally {
          clearTimeout(idle)
        }
      },
      cancel: abortBody,
    })
  }
}
