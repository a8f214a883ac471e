/** media-links.ts: signed URLs for the media of one session. Loaded when the first URL is requested. */

import type { ClientEnvironment } from "../client/net/client-environment.ts"
import { LinkSigner } from "../client/files/signed-links.ts"
import { CuecardError } from "./client-error.ts"

export type GetMediaLink = (url: string) => Promise<string | null>

/**
 * Returns a function that signs URLs. URLs that are requested at the same time share a request, and signed URLs are
 * kept until they expire.
 */
export function createMediaLinks(
  { api, origin, now, random, setTimer }: ClientEnvironment,
  session: string,
): GetMediaLink {
  const signer = new LinkSigner({ signUrls: (urls) => api.signUrls(session, urls), now, random, setTimer })
  return async (url) => {
    const link = await signer.resolveLink(url)
    // The caller decides whether to try again.
    signer.stopRetrying()
    if (link.at === "failed") throw new CuecardError("unreachable")
    return link.at === "ready" ? new URL(link.href, origin).href : null
  }
}
