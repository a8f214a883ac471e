/**
 * remote-fetch.ts: fetches what an address of a model's text names, for a reader who asked for it.
 *
 * public URL → REMOTE FETCH → head, type, bounded bytes
 * Every address on the way is judged anew, nothing of the reader goes out, the type is read from the bytes, and size and
 * time are bounded while they come.
 */

import { fail, type RemoteFlaw, type Result, succeed } from "../../shared/fault.ts"
import { MAX_REMOTE_REDIRECTS, SNIFF_BYTES } from "../../shared/limits.ts"
import { checkPublicUrl } from "../../shared/text/public-url.ts"
import { type FileType, sniff } from "../asset/detect-file-type.ts"
import type { Times } from "../platform/time-limits.ts"

export interface Remote {
  readonly type: FileType
  /** Bytes, where the other side says; null: nobody knows. */
  readonly size: number | null
  /** Breaks off where it is more than `type.max`, or takes too long. */
  readonly body: ReadableStream<Uint8Array>
}

/** Who asks, and for what; the same for every reader. The platform would write a reader's address in `x-real-ip`. */
const HEADERS = { "user-agent": "Cuecard-Media/1", accept: "image/*, audio/*, video/*", "x-real-ip": "::" }

/** Does one of us ask this? An address elsewhere may lead back here, and so on without end. */
export function isOurs(userAgent: string | undefined): boolean {
  return userAgent === HEADERS["user-agent"]
}

const SHOWN: ReadonlySet<FileType["kind"]> = new Set(["image", "audio", "video"])

function refuse(because: RemoteFlaw) {
  return fail({ reason: "remote_refused", because } as const)
}

/**
 * Shapes  (URL, which hosts a redirect may lead to, where requests really go in tests) → what is there.
 * Errors  `url_refused`, of any address on the way; `remote_refused` and because of what.
 */
export async function fetchRemote(
  url: string,
  times: Times,
  isHost: (host: string) => boolean,
  upstream?: string,
): Promise<Result<Remote>> {
  const control = new AbortController()
  const whole = setTimeout(() => control.abort(), times.remoteMs)
  const first = setTimeout(() => control.abort(), times.remoteFirstByteMs)
  try {
    const answered = await follow(url, control.signal, isHost, upstream)
    if (!answered.ok) {
      control.abort()
      clearTimeout(whole)
      return answered
    }
    const remote = await readRemote(answered.value, control, times, whole)
    if (remote.ok) return remote
    control.abort()
    clearTimeout(whole)
    return remote
  } catch {
    const isLate = control.signal.aborted
    control.abort()
    clearTimeout(whole)
    return refuse(isLate ? "timeout" : "unreachable")
  } finally {
    clearTimeout(first)
  }
}

async function follow(
  url: string,
  signal: AbortSignal,
  isHost: (host: string) => boolean,
  upstream?: string,
): Promise<Result<Response>> {
  let next = url
  for (let hop = 0; hop <= MAX_REMOTE_REDIRECTS; hop++) {
    const checked = checkPublicUrl(next)
    if (!checked.ok) return checked
    const { href, host } = checked.value
    if (hop > 0 && !isHost(host)) return refuse("redirects")
    const asked = upstream === undefined ? href : `${upstream}/remote/${encodeURIComponent(href)}`
    const answer = await fetch(asked, { headers: HEADERS, redirect: "manual", signal })
    if (![301, 302, 303, 307, 308].includes(answer.status)) return succeed(answer)
    await answer.body?.cancel()
    const location = answer.headers.get("location")
    if (location === null || !URL.canParse(location, href)) return refuse("unreachable")
    next = new URL(location, href).href
  }
  return refuse("redirects")
}

async function readRemote(
  answer: Response,
  control: AbortController,
  times: Times,
  whole: ReturnType<typeof setTimeout>,
): Promise<Result<Remote>> {
  const { body, headers, status } = answer
  if (status !== 200 || body === null) return refuse("unreachable")
  const reader = body.getReader()
  const { head, isDone } = await readHead(reader)
  const type = sniff(head)
  if (type === null || !SHOWN.has(type.kind)) return refuse("type")
  // What comes unpacked is of another length than is told.
  const told = headers.has("content-encoding") ? null : headers.get("content-length")
  const size = told !== null && /^\d{1,15}$/.test(told) ? Number(told) : null
  if (size !== null && size > type.max) return refuse("size")
  const pump = bounded(reader, head, isDone, { max: type.max, size, idleMs: times.idleMs, control })
  return succeed({ type, size, body: pump(() => clearTimeout(whole)) })
}

async function readHead(reader: ReadableStreamDefaultReader<Uint8Array>) {
  let head = new Uint8Array()
  let isDone = false
  while (head.length < SNIFF_BYTES && !isDone) {
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

interface Bounds {
  readonly max: number
  readonly size: number | null
  readonly idleMs: number
  readonly control: AbortController
}

/** The rest of it: an end before its told length, one byte too many and a long silence break it off. */
function bounded(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  head: Uint8Array,
  isDone: boolean,
  { max, size, idleMs, control }: Bounds,
) {
  return (ended: () => void): ReadableStream<Uint8Array> => {
    let bytes = head.length
    const finish = (sink: ReadableStreamDefaultController<Uint8Array>): void => {
      ended()
      if (size !== null && bytes !== size) sink.error(new Error("cut off"))
      else sink.close()
    }
    const giveUp = (): void => {
      ended()
      control.abort()
    }
    return new ReadableStream<Uint8Array>({
      start(sink) {
        if (head.length > 0) sink.enqueue(head)
        if (isDone) finish(sink)
      },
      async pull(sink) {
        const idle = setTimeout(giveUp, idleMs)
        try {
          const { done, value } = await reader.read()
          if (done) return finish(sink)
          bytes += value.length
          if (bytes > max) throw new Error("too large")
          sink.enqueue(value)
        } catch (error) {
          giveUp()
          sink.error(error)
        } finally {
          clearTimeout(idle)
        }
      },
      cancel: giveUp,
    })
  }
}
