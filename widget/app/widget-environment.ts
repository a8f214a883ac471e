/**
 * widget-environment.ts: the network access of the widget's controllers. All URLs point to the server, not to the
 * site.
 */

import { parseRefusal } from "../../shared/protocol/responses.ts"
import type { SendFile } from "../../client/files/send-file.ts"
import { type ClientEnvironment, createEnvironment } from "../../client/net/client-environment.ts"
import { RequestError } from "../../client/net/http-request.ts"
import { sendWithRateLimitRetry } from "../../client/net/rate-limit-retry.ts"
import { errorText } from "../../client/words/page-text.ts"
import type { WidgetHost, WidgetOptions } from "../shell/widget-view.ts"

export interface WidgetEnvironment extends ClientEnvironment {
  readonly sendFile: SendFile
}

/** Creates the widget's environment. `onRefused` is called if there is no token, without which nothing works. */
export function createWidgetEnvironment(
  { url, agent }: WidgetOptions,
  host: WidgetHost,
  onRefused: (refusal: RequestError) => void,
): WidgetEnvironment {
  const environment = createEnvironment({
    origin: url,
    async fetch(address, init) {
      const response = await fetch(address, init)
      if (response.status === 403) void reportDeniedOrigin(response.clone(), host)
      return response
    },
    WebSocket,
    tokenRoutes: [],
    getEmbeddedToken: () => host.getToken().catch(toRefusal),
    onSignedOut: onRefused,
  })
  const { api } = environment
  const signUrls = api.signUrls.bind(api)
  api.signUrls = async (session, urls) => {
    const response = await signUrls(session, urls)
    const signed = response.signed.map(({ url: own, href }) => ({ url: own, href: href && new URL(href, url).href }))
    return { ...response, signed }
  }
  const createSession = api.createSession.bind(api)
  api.createSession = (title, id, options) =>
    createSession(title, id, { ...options, agent: options?.agent ?? agent ?? undefined })
  return {
    ...environment,
    async sendFile(path, ...upload) {
      const { sendFile } = await import("../../client/files/send-file-xhr.ts")
      return await sendWithRateLimitRetry(api.hold, () => sendFile(url + path, ...upload))
    },
  }
}

async function reportDeniedOrigin(response: Response, host: WidgetHost): Promise<void> {
  const { code, text } = parseRefusal(await response.json().catch(() => null))
  if (code === "origin_denied") host.emit("error", { code, text: text ?? "" })
}

/** Converts a refusal by the site to a refusal by the server, which is final. Any other error is retried. */
function toRefusal(error: unknown): never {
  if (Reflect.get(Object(error), "isRefused") === true) throw new RequestError(401, errorText.signIn)
  throw error
}
