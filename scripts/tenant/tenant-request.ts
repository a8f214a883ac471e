/**
 * tenant-request.ts: sends the requests of `npm run tenant`: chooses the server and the secret, and reports failures.
 */

import { existsSync, readFileSync } from "node:fs"
import process from "node:process"
import { isJsonObject, parseJson } from "../../shared/json.ts"

export type JsonObject = Readonly<Record<string, unknown>>

/** The options that select the server. */
export interface ServerOptions {
  readonly url: string
  readonly "secret-env": string
}

/** Timeout for a response, in milliseconds. */
const REQUEST_MS = 30_000

/** Timeout for transferring one archive file, in milliseconds. */
const TRANSFER_MS = 10 * 60_000

/** Files that can contain the operator's secret of a local server. The first one that contains it is used. */
const LOCAL_FILES = [".dev.vars", "wrangler.toml"]

/** An error that the user must correct, or a refusal by the server. */
export class UsageError extends Error {}

export function isLocalUrl({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" || /^127\./.test(hostname)
}

/** Returns the server's URL. Secrets are sent only over https or to this machine. */
export function readUrl({ url }: Pick<ServerOptions, "url">): URL {
  const parsed = URL.parse(url.replace(/\/*$/, "/"))
  if (parsed === null) throw new UsageError(`${url} is not a URL.`)
  if (parsed.protocol !== "https:" && !isLocalUrl(parsed))
    throw new UsageError(`${url} would receive a secret unencrypted. Use https.`)
  return parsed
}

/** Returns the option that a suggested command needs for the same server. */
export function urlOption({ url }: Pick<ServerOptions, "url">): string {
  return url === "http://127.0.0.1:8787" ? "" : ` --url ${url}`
}

/** Returns the operator's secret. It is never an argument, because every user of a machine can read arguments. */
export function readSecret(options: ServerOptions): string {
  const name = options["secret-env"]
  const given = process.env[name]
  if (given !== undefined && given !== "") return given
  const local = isLocalUrl(readUrl(options)) ? LOCAL_FILES.map(readSecretOf).find((secret) => secret !== null) : null
  if (local !== null && local !== undefined) return local
  throw new UsageError(`The operator's secret is missing. Set it in ${name}:\n  read -rs ${name} && export ${name}`)
}

function readSecretOf(file: string): string | null {
  const line = existsSync(file)
    ? /^\s*OPERATOR_SECRET\s*=\s*(.+?)\s*$/m.exec(readFileSync(file, "utf8"))?.[1]
    : undefined
  return line?.replace(/^(["'])(.*)\1$/, "$2") ?? null
}

/** The body and method of a request. `file`: bytes of an archive. */
interface Sent {
  readonly method: string
  readonly json?: object | undefined
  readonly text?: string
  readonly file?: Uint8Array<ArrayBuffer>
}

/**
 * Sends a request and returns its JSON response. Throws an error with the server's message if the server refuses the
 * request.
 */
export async function requestJson(
  options: ServerOptions,
  path: string,
  secret: string,
  json?: object,
  method = json === undefined ? "GET" : "POST",
): Promise<JsonObject> {
  return await readJson(options, await sendRequest(options, path, secret, { method, json }))
}

/** Sends a request and returns its response, which may be a refusal. Throws if the server can't be reached. */
export async function sendRequest(options: ServerOptions, path: string, secret: string, sent: Sent): Promise<Response> {
  const url = new URL(path, readUrl(options))
  const { method, json, file, text = json === undefined ? null : JSON.stringify(json) } = sent
  return await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${secret}`,
      "content-type": file === undefined ? "application/json" : "application/octet-stream",
    },
    body: file ?? text,
    redirect: "error",
    signal: AbortSignal.timeout(path.includes("/files/") ? TRANSFER_MS : REQUEST_MS),
  }).catch((error: unknown) => {
    throw new UsageError(`${url.origin} does not respond (${errorText(error)}). Is the server running?`)
  })
}

/**
 * Returns the body of a response; {} if it is empty. Throws an error with the server's message if the response is a
 * refusal.
 */
export async function readJson(options: ServerOptions, response: Response): Promise<JsonObject> {
  if (response.status === 204) return {}
  const parsed = parseJson(await response.text())
  if (!isJsonObject(parsed))
    throw new UsageError(`${readUrl(options).origin} answered ${response.status}. Is it a Cuecard server?`)
  if (response.ok) return parsed
  throw new UsageError(`${parsed["text"]} (${parsed["code"]})${hintFor(parsed["code"])}`)
}

function hintFor(code: unknown): string {
  if (code === "route_unknown") return "\nThe server has no OPERATOR_SECRET, or is older than this command."
  return code === "token_invalid" ? "\nThe operator's secret does not match the server's." : ""
}

function errorText(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}
