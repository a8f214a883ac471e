/**
 * kept-page-files.ts: serves scripts and styles of other versions of the page from the bucket. Loaded on the first
 * request for a file that this version does not have.
 *
 * `npm run deploy` uploads the files of each version before that version receives traffic (scripts/deploy.ts).
 */

import { PAGE_FILES_FOLDER } from "../../shared/asset-limits.ts"
import { RATE_PERIOD_SECONDS } from "../../shared/user-limits.ts"
import type { Env } from "../env.ts"
import { countUp, createRateFault } from "../limits/rate-limits.ts"
import { faultToResponse } from "../platform/fault-response.ts"
import { FreshCache } from "../platform/fresh-cache.ts"
import { describeError, logError } from "../platform/log.ts"

/** A file name that contains a hash of the contents, as the build produces it. */
const FILE_PATH = /^\/assets\/([\w.-]{1,100}-[\w-]{8}\.(js|css))$/

const CONTENT_TYPES: Readonly<Record<string, string>> = { js: "text/javascript", css: "text/css" }

/** The headers of public/_headers, which the platform doesn't add to the Worker's responses. */
const HEADERS = {
  "cache-control": "public, max-age=31536000, immutable",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-dns-prefetch-control": "off",
  "cross-origin-resource-policy": "same-origin",
  "access-control-allow-origin": "*",
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
}

/**
 * How long an isolate remembers that a file is missing, in milliseconds, and how many missing files it remembers. A
 * deploy stores the files of a version before any page requests them, so a short time suffices.
 */
const MISSING_MS = 60_000
const MAX_MISSING_FILES = 2_000

/** Maximum number of refused IP addresses that an isolate remembers. */
const MAX_REFUSED_ADDRESSES = 5_000

const missingFiles = new FreshCache<true>(MISSING_MS, MAX_MISSING_FILES)
const refusedAddresses = new FreshCache<true>(RATE_PERIOD_SECONDS * 1000, MAX_REFUSED_ADDRESSES)

/**
 * Returns the page's file at this path; null if no stored version has it. Errors: `rate_limited`, as a response, for an
 * IP address that has requested too many missing files. Requests for existing files don't count.
 *
 * `address` is the client's IP address as `groupAddress` returns it; null if the platform provides none. Cost: one read
 * from the bucket, or none if the file is known to be missing.
 */
export async function readKeptFile(
  { MEDIA, RATE_READ }: Pick<Env, "MEDIA" | "RATE_READ">,
  path: string,
  address: string | null,
): Promise<Response | null> {
  const [, name, type = ""] = FILE_PATH.exec(path) ?? []
  const now = Date.now()
  if (name === undefined || missingFiles.get(name, now) !== undefined) return null
  if (address !== null && refusedAddresses.get(address, now) !== undefined)
    return faultToResponse(createRateFault("read", "user"))
  try {
    const object = await MEDIA.get(`${PAGE_FILES_FOLDER}/${name}`)
    if (object !== null)
      return new Response(object.body, {
        headers: { ...HEADERS, "content-type": `${CONTENT_TYPES[type]}; charset=utf-8` },
      })
  } catch (error) {
    logError("page_file_failed", { error: describeError(error) })
    return null
  }
  missingFiles.set(name, true, now)
  // No user's key contains a space, so no user has this key.
  const isAdmitted = address === null || (await countUp(RATE_READ, `page file ${address}`))
  if (!isAdmitted) refusedAddresses.set(address, true, now)
  return null
}
