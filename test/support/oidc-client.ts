/**
 * oidc-client.ts: uses the test provider (oidc-provider.ts) over HTTP: starts a provider, controls it, and signs in by
 * following its redirects and filling in its forms. This module runs in Node and in workerd.
 */

import type { ProviderFaults, SignRequest } from "./oidc-provider.ts"

export interface RemoteProvider {
  readonly issuer: string
  listRequests(): Promise<string[]>
  setFaults(faults: ProviderFaults): Promise<void>
  rotateKeys(keepsOld?: boolean): Promise<void>
  sign(request: SignRequest): Promise<string>
}

/** Starts a separate provider in the process of upstreams.ts, which also stops the provider. */
export async function startRemoteProvider(upstreamUrl: string, redirectUris?: string[]): Promise<RemoteProvider> {
  const { issuer } = await postJson(`${upstreamUrl}/oidc/start`, { redirectUris })
  return connectProvider(issuer)
}

export function connectProvider(issuer: string): RemoteProvider {
  const control = (action: string, body: unknown = {}) => postJson(`${issuer}/control/${action}`, body)
  return {
    issuer,
    listRequests: async () => await control("seen"),
    setFaults: async (faults) => void (await control("faults", faults)),
    rotateKeys: async (keepsOld) => void (await control("rotate", { keepsOld })),
    sign: async (request) => (await control("sign", request)).token,
  }
}

async function postJson(url: string, body: unknown) {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return JSON.parse(await response.text())
}

export type ConsentAnswer = "allow" | "deny"

/** Stores cookies as a browser does. */
export class CookieJar {
  readonly #cookies = new Map<string, string>()

  get header(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ")
  }

  get(name: string): string | undefined {
    return this.#cookies.get(name)
  }

  set(name: string, value: string): void {
    this.#cookies.set(name, value)
  }

  /** Stores the cookies of a response. */
  read({ headers }: Pick<Response, "headers">): void {
    for (const cookie of headers.getSetCookie()) {
      const [pair = "", ...attributes] = cookie.split(";")
      const at = pair.indexOf("=")
      const isGone = attributes.some((attribute) => /^\s*(?:max-age=0|expires=thu, 01 jan 1970)/i.test(attribute))
      if (isGone) this.#cookies.delete(pair.slice(0, at))
      else this.#cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
  }
}

/**
 * Signs in with the provider, starting at the URL that `/auth/login` redirects to. Returns the callback URL without
 * requesting it.
 */
export async function signInAtProvider(
  address: string,
  login: string,
  { consent = "allow" as ConsentAnswer, jar = new CookieJar() } = {},
): Promise<string> {
  const { origin } = new URL(address)
  let next = address
  for (let hop = 0; hop < 12; hop++) {
    const response = await fetch(next, { headers: { cookie: jar.header }, redirect: "manual" })
    jar.read(response)
    const text = await response.text()
    const location = response.headers.get("location") ?? (await answerForm(text, next, login, consent, jar))
    next = new URL(location, next).href
    if (!next.startsWith(origin)) return next
  }
  throw new Error(`the provider did not redirect back: ${next}`)
}

/** Submits the provider's form. Returns the URL that the provider redirects to. */
async function answerForm(
  html: string,
  address: string,
  login: string,
  consent: ConsentAnswer,
  jar: CookieJar,
): Promise<string> {
  const action = /<form[^>]*action="([^"]+)"/.exec(html)?.[1]
  const prompt = /name="prompt" value="([^"]+)"/.exec(html)?.[1]
  if (action === undefined || prompt === undefined) throw new Error(`no form at ${address}: ${html.slice(0, 300)}`)
  if (consent === "deny" && prompt === "consent") return `${new URL(action, address).href}/abort`
  const response = await fetch(new URL(action, address).href, {
    method: "POST",
    headers: { cookie: jar.header, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ prompt, login, password: "any" }).toString(),
    redirect: "manual",
  })
  jar.read(response)
  await response.text()
  return response.headers.get("location") ?? address
}
