/**
 * fetch-document.ts: fetches a public text document. Every URL, including that of each redirect, is checked first. The
 * request contains nothing about the user, and the size, the number of redirects and the time are limited. Source: SPEC
 * BT4, BT5.
 */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { checkServiceUrl } from "../../auth/service-url.ts"
import { rejectOnAbort } from "../../platform/abort.ts"
import { BodyReader } from "../../platform/read-bounded.ts"
import { startTimeout } from "../../platform/timeout.ts"
import type { PageEnv } from "./page-tool.ts"

export interface FetchedDocument {
  /** The final URL, after redirects and without a fragment. */
  readonly url: string
  readonly isHtml: boolean
  /** The charset that the `Content-Type` header names, in lower case; null if it names none. */
  readonly charset: string | null
  /** At most MAX_PAGE_BYTES. */
  readonly bytes: Uint8Array
  /** Whether the document has more bytes. */
  readonly isCut: boolean
}

/** Why a page can't be read, as a sentence for the model and the user, without anything that the other server wrote. */
export interface PageFault {
  readonly reason: "address" | "page"
  readonly details: string
}

/** Maximum number of redirects per call. */
const MAX_REDIRECTS = 5

/** At most this many bytes of a document are read. The rest of a longer page is usually scripts and data. */
export const MAX_PAGE_BYTES = 1024 * 1024

const HTML_TYPES: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"])

/** The headers are the same for every user. Without `x-real-ip`, the platform would send the user's IP address. */
const HEADERS = { "user-agent": "Cuecard-Page/1", accept: "text/html, text/plain;q=0.9", "x-real-ip": "::" }

const refuseUrl = (details: string) => fail({ reason: "address", details } as const)
const refusePage = (details: string) => fail({ reason: "page", details } as const)

/** Fetches a document. Returns a PageFault on failure, and never throws. */
export async function fetchDocument(
  url: string,
  env: PageEnv,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Result<FetchedDocument, PageFault>> {
  const timeout = startTimeout(signal, timeoutMs)
  try {
    return await rejectOnAbort(followRedirects(url, env, timeout.signal), timeout.signal)
  } catch {
    if (signal.aborted) return refusePage("The call was stopped.")
    return refusePage(
      timeout.hasExpired() ? `It didn't arrive within ${timeoutMs / 1000} s.` : "The server can't be reached.",
    )
  } finally {
    timeout.clear()
  }
}

async function followRedirects(
  url: string,
  env: PageEnv,
  signal: AbortSignal,
): Promise<Result<FetchedDocument, PageFault>> {
  let next = url
  let isPublic = false
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const checked = checkPageUrl(next, env, isPublic)
    const isFirst = hop === 0
    if (checked === null) {
      const what = isFirst ? `"/url" isn't` : "The page redirects to an address that isn't"
      return (isFirst ? refuseUrl : refusePage)(`${what} a public https address.`)
    }
    isPublic = checked.startsWith("https:")
    const response = await fetch(toTarget(checked, env), { headers: HEADERS, redirect: "manual", signal })
    if (![301, 302, 303, 307, 308].includes(response.status)) return await readDocument(checked, response)
    await response.body?.cancel()
    const location = response.headers.get("location")
    if (location === null || !URL.canParse(location, checked)) return refusePage("It redirects to an invalid address.")
    next = new URL(location, checked).href
  }
  return refusePage(`It redirects more than ${MAX_REDIRECTS} times.`)
}

/** Returns the URL without its fragment; null if it isn't allowed. A public page must not lead to this machine. */
function checkPageUrl(text: string, env: PageEnv, isFromPublic: boolean): string | null {
  const checked = checkServiceUrl(text, { ...env, ENVIRONMENT: env.ENVIRONMENT ?? "production" })
  if (checked === null || (isFromPublic && !checked.startsWith("https:"))) return null
  const url = new URL(checked)
  url.hash = ""
  return url.href
}

/** In tests, a server on this machine stands in for all public URLs. */
function toTarget(url: string, { MEDIA_UPSTREAM }: PageEnv): string {
  return MEDIA_UPSTREAM === undefined || url.startsWith("http:")
    ? url
    : `${MEDIA_UPSTREAM}/remote/${encodeURIComponent(url)}`
}

async function readDocument(url: string, response: Response): Promise<Result<FetchedDocument, PageFault>> {
  const { type, charset } = parseContentType(response.headers.get("content-type"))
  const isHtml = HTML_TYPES.has(type)
  if (response.status !== 200) {
    await response.body?.cancel()
    return refusePage(`The server returned status ${response.status}.`)
  }
  if (!isHtml && type !== "text/plain") {
    await response.body?.cancel()
    return refusePage("It is neither a page nor plain text.")
  }
  return succeed({ url, isHtml, charset, ...(await readBeginning(response.body)) })
}

function parseContentType(header: string | null): { readonly type: string; readonly charset: string | null } {
  const [type = "", ...parameters] = (header ?? "").toLowerCase().split(";")
  const charset = parameters.map((one) => /^\s*charset\s*=\s*"?([\w:.-]{1,40})"?\s*$/.exec(one)?.[1]).find(Boolean)
  return { type: type.trim(), charset: charset ?? null }
}

/** Reads at most MAX_PAGE_BYTES, and cancels the rest of the body. */
async function readBeginning(body: ReadableStream<Uint8Array> | null): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  const reader = new BodyReader(body)
  const bytes = await reader.peek(MAX_PAGE_BYTES + 1)
  await reader.cancel().catch(() => {})
  return { bytes: bytes.subarray(0, MAX_PAGE_BYTES), isCut: bytes.byteLength > MAX_PAGE_BYTES }
}
