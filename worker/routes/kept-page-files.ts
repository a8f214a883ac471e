/**
 * kept-page-files.ts: serves scripts and styles of other versions of the page from the bucket. Loaded on the first request
 * for a file that this version does not have.
 *
 * `npm run deploy` uploads the files of each version before that version receives traffic (scripts/deploy.ts).
 */

import type { Env } from "../env.ts"
import { describeError, logError } from "../platform/log.ts"

/** The folder in the bucket. No tenant id contains a `~`, so the folder belongs to no tenant. */
const FOLDER = "~page"

/** A file name that contains a hash of the contents, as the build produces it. */
const FILE_PATH = /^\/assets\/([\w.-]{1,100}-[\w-]{8}\.(js|css))$/

const CONTENT_TYPES: Readonly<Record<string, string>> = { js: "text/javascript", css: "text/css" }

/** The headers of public/_headers, which the platform doesn't add to responses of the Worker. */
const HEADERS = {
  "cache-control": "public, max-age=31536000, immutable",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-dns-prefetch-control": "off",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
}

/** The page's file at this path; null if no stored version has it. Cost: one read of the bucket. */
export async function readKeptFile({ MEDIA }: Pick<Env, "MEDIA">, path: string): Promise<Response | null> {
  const [, name, type = ""] = FILE_PATH.exec(path) ?? []
  if (name === undefined) return null
  try {
    const object = await MEDIA.get(`${FOLDER}/${name}`)
    if (object === null) return null
    return new Response(object.body, {
      headers: { ...HEADERS, "content-type": `${CONTENT_TYPES[type]}; charset=utf-8` },
    })
  } catch (error) {
    logError("page_file_failed", { error: describeError(error) })
    return null
  }
}
