/**
 * oidc-provider.ts: a real OpenID provider (npm `oidc-provider`) on loopback, with its own forms for sign-in and
 * consent.
 *
 * It records its requests, rotates its keys, fails on demand, and signs any token that a test requests. Tests in
 * workerd use the same functions over HTTP: see oidc-client.ts. Anyone who enters a name is signed in. For the name
 * `owner-ada`, tokens contain the claim `role: "owner"`.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { setTimeout } from "node:timers/promises"
import { CompactSign, exportJWK, generateKeyPair, importJWK, type JWK } from "jose"
import { type ClientMetadata, type Configuration, Provider } from "oidc-provider"

export const CLIENT_ID = "cuecard"
export const CLIENT_SECRET = "a-secret-of-the-test-client-0123456789"
/** Id of a public client, which has no secret. */
export const PUBLIC_CLIENT_ID = "cuecard-public"

/** How the provider misbehaves. An absent field means normal behaviour. */
export interface ProviderFaults {
  /** `down`: connections are cut. `error`: 503. */
  readonly outage?: "down" | "error"
  /** Delay of each response, in milliseconds. */
  readonly delayMs?: number
  /** The prefix of the paths to which the faults apply; absent for all paths. */
  readonly path?: string
  /** The response body of the affected paths, in place of the provider's. */
  readonly body?: string
  /** The status of the response, with `body` or `location`. A redirect needs a 3xx status and `location`. */
  readonly status?: number
  readonly location?: string
  /** Replaces claims of the ID tokens that the token endpoint issues. Null removes a claim. */
  readonly idToken?: Readonly<Record<string, unknown>>
}

export interface SignRequest {
  readonly header?: Readonly<Record<string, unknown>>
  readonly payload: Readonly<Record<string, unknown>>
  /** The payload as text, for JSON that an object cannot express, such as duplicate names. */
  readonly text?: string
}

export interface ProviderOptions {
  /** The callback URLs of the clients. */
  readonly redirectUris?: readonly string[]
  /** The port on which the provider listens. By default, this is any free port. */
  readonly port?: number
}

export interface TestProvider {
  /** The issuer's URL, without a trailing slash. */
  readonly issuer: string
  /** Method and path of each request, except requests from tests. */
  readonly seen: readonly string[]
  setFaults(faults: ProviderFaults): void
  /** Starts signing with new keys. With `keepsOld`, the old keys stay published. */
  rotateKeys(keepsOld?: boolean): Promise<void>
  /** Signs a token with the newest key for `header.alg` (default: RS256). */
  sign(request: SignRequest): Promise<string>
  close(): Promise<void>
}

/** Signing keys, newest first. */
type Keys = readonly JWK[]

let keyCount = 0

async function generateKeys(): Promise<Keys> {
  const kinds = ["RS256", "ES256", "EdDSA"].map(async (alg) => {
    const { privateKey } = await generateKeyPair(alg, { extractable: true })
    // An RSA key without `alg` serves both RS256 and PS256.
    const own = alg === "RS256" ? {} : { alg }
    return { ...(await exportJWK(privateKey)), ...own, kid: `key-${++keyCount}-${alg}`, use: "sig" }
  })
  return await Promise.all(kinds)
}

function createConfiguration(keys: Keys, redirectUris: readonly string[]): Configuration {
  const client: ClientMetadata = {
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    redirect_uris: [...redirectUris],
    post_logout_redirect_uris: redirectUris.map((uri) => new URL("/", uri).href),
    grant_types: ["authorization_code", "client_credentials", "refresh_token"],
    response_types: ["code"],
  }
  const { client_secret: _secret, ...publicClient } = client
  return {
    clients: [
      client,
      { ...publicClient, client_id: PUBLIC_CLIENT_ID, token_endpoint_auth_method: "none" },
    ] as ClientMetadata[],
    jwks: { keys: [...keys] } as NonNullable<Configuration["jwks"]>,
    claims: { openid: ["sub", "role", "groups"], profile: ["name"], email: ["email", "email_verified"] },
    // ID tokens carry the user's claims, like the ID tokens of most hosted providers.
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: { enabled: true, getResourceServerInfo: (_context, resource) => describeResource(resource) },
      revocation: { enabled: true, allowedPolicy: (_context, client, token) => token.clientId === client.clientId },
    },
    cookies: { keys: ["a key for the cookies of the test provider"] },
    pkce: { required: () => true },
    // Sign-ins get no refresh token. Each refresh token is valid only once.
    issueRefreshToken: (_context, client, code) =>
      client.grantTypeAllowed("refresh_token") && "resource" in code && code.resource !== undefined,
    rotateRefreshToken: true,
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...describeUser(id) }) }),
    ttl: {
      AccessToken: (_context, token) => token.resourceServer?.accessTokenTTL ?? 3600,
      RefreshToken: 3600,
      AuthorizationCode: 60,
      IdToken: 3600,
      Interaction: 3600,
      Grant: 3600,
      Session: 3600,
    },
  }
}

/** Describes a resource. If its URL contains `short-lived`, its tokens expire soon. */
function describeResource(resource: string): { scope: string; accessTokenTTL?: number } {
  return { scope: "files", ...(resource.includes("short-lived") && { accessTokenTTL: 20 }) }
}

function describeUser(login: string): Record<string, unknown> {
  const [role, name] = login.includes("-") ? login.split("-", 2) : [undefined, login]
  const shown = `${(name ?? "").slice(0, 1).toUpperCase()}${(name ?? "").slice(1)} Example`
  return { name: shown, email: `${login}@example.com`, email_verified: true, ...(role === undefined ? {} : { role }) }
}

export async function startOidcProvider({ redirectUris = [], port = 0 }: ProviderOptions = {}): Promise<TestProvider> {
  const uris = redirectUris.length === 0 ? ["https://cuecard.test/auth/callback/idp"] : redirectUris
  const seen: string[] = []
  let faults: ProviderFaults = {}
  let signingKeys = await generateKeys()
  let handle: (request: IncomingMessage, reply: ServerResponse) => Promise<void> = async () => {}
  const server = createServer((request, reply) => void answerRequest(request, reply))
  const issuer = await listenOnLoopback(server, port)
  const publish = (keys: Keys) => {
    handle = createQuietly(() => new Provider(issuer, createConfiguration(keys, uris))).callback()
  }
  publish(signingKeys)

  const sign = async ({ header, payload, text }: SignRequest): Promise<string> => {
    const alg = String(header?.["alg"] ?? "RS256")
    const jwk = findKey(signingKeys, alg)
    const key = await importJWK(jwk, alg)
    return await new CompactSign(new TextEncoder().encode(text ?? JSON.stringify(payload)))
      .setProtectedHeader({ typ: "JWT", kid: jwk.kid ?? "", ...header, alg })
      .sign(key, { crit: Object.fromEntries(((header?.["crit"] as string[]) ?? []).map((name) => [name, true])) })
  }

  const controls: TestProvider = {
    issuer,
    seen,
    sign,
    setFaults: (next) => {
      faults = next
    },
    rotateKeys: async (keepsOld = false) => {
      const old = signingKeys
      signingKeys = await generateKeys()
      publish(keepsOld ? [...signingKeys, ...old] : signingKeys)
    },
    close: () => closeServer(server),
  }

  async function answerRequest(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const path = request.url ?? "/"
    if (path.startsWith("/control/")) return await answerControl(controls, path, request, reply)
    seen.push(`${request.method} ${path.split("?", 1)[0]}`)
    const applied = faults.path === undefined || path.startsWith(faults.path) ? faults : {}
    if (applied.delayMs !== undefined) await setTimeout(applied.delayMs, null, { ref: false })
    if (applied.outage === "down") return void request.socket.destroy()
    if (applied.outage === "error") return void reply.writeHead(503).end("unavailable")
    const { body, status = 200, location } = applied
    if (location !== undefined) return void reply.writeHead(status, { location }).end()
    if (body !== undefined) return void reply.writeHead(status, { "content-type": "application/json" }).end(body)
    if (applied.idToken !== undefined && path === "/token") changeIdToken(reply, applied.idToken, sign)
    await handle(request, reply)
  }
  return controls
}

/** Creates something while suppressing the provider's warnings that its storage and forms are only for tests. */
function createQuietly<T>(create: () => T): T {
  const { warn } = console
  console.warn = () => {}
  try {
    return create()
  } finally {
    console.warn = warn
  }
}

function findKey(keys: Keys, alg: string): JWK {
  const kty = alg.startsWith("ES") ? "EC" : alg === "EdDSA" || alg === "Ed25519" ? "OKP" : "RSA"
  const found = keys.find((key) => key.kty === kty)
  if (found === undefined) throw new Error(`no key for ${alg}`)
  return found
}

/** Replaces the ID token of a response with one that has other claims and is signed with the same key. */
function changeIdToken(
  reply: ServerResponse,
  changes: Readonly<Record<string, unknown>>,
  sign: TestProvider["sign"],
): void {
  const end = reply.end.bind(reply) as (body?: unknown) => ServerResponse
  reply.end = ((body?: unknown) => {
    const parsed = JSON.parse(String(body))
    if (parsed.id_token === undefined) return end(body)
    const claims = JSON.parse(Buffer.from(parsed.id_token.split(".")[1], "base64url").toString())
    const payload = Object.fromEntries(Object.entries({ ...claims, ...changes }).filter(([, value]) => value !== null))
    void sign({ payload }).then((token) => {
      const changed = JSON.stringify({ ...parsed, id_token: token })
      reply.setHeader("content-length", Buffer.byteLength(changed))
      end(changed)
    })
    return reply
  }) as typeof reply.end
}

/** Offers the controls over HTTP, for tests in workerd. */
async function answerControl(
  provider: TestProvider,
  path: string,
  request: IncomingMessage,
  reply: ServerResponse,
): Promise<void> {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  const body = text === "" ? {} : JSON.parse(text)
  const action = path.slice("/control/".length)
  const respond = (value: unknown) =>
    void reply.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
  if (action === "seen") return respond(provider.seen)
  if (action === "sign") return respond({ token: await provider.sign(body) })
  if (action === "faults") provider.setFaults(body)
  else if (action === "rotate") await provider.rotateKeys(body.keepsOld === true)
  else return void reply.writeHead(404).end()
  respond({})
}

async function listenOnLoopback(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve))
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
