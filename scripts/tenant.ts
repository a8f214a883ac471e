/**
 * tenant.ts: `npm run tenant`: creates and lists tenants, and gives them API keys and tokens, through the server's HTTP API.
 *
 * `npm run tenant -- create acme` · `list` · `key acme` · `token acme --user ada`
 */

import { existsSync, readFileSync } from "node:fs"
import process from "node:process"
import { parseArgs } from "node:util"
import { isJsonObject, parseJson } from "../shared/json.ts"

type JsonObject = Readonly<Record<string, unknown>>

const USAGE = `npm run tenant -- create ID [--region eu] [--name NAME]    create a tenant, and print its first API key
npm run tenant -- list                                     list all tenants
npm run tenant -- key ID [--role ROLE]… [--name NAME] [--ttl SECONDS]
                                                           give a tenant another API key
npm run tenant -- token ID --user USER [--role ROLE] [--name NAME] [--ttl SECONDS]
                                                           print a token for a user

--url URL            the server, default http://127.0.0.1:8787
--secret-env NAME    the variable with the operator's secret, default OPERATOR_SECRET. For a server on this machine,
                     .dev.vars and wrangler.toml are read too
--json               print the response as JSON
token uses the API key in CUECARD_KEY if it is set, and otherwise asks the operator's routes for a key of one minute.`

/** Time for a response, in milliseconds. */
const REQUEST_MS = 30_000

/** Lifetime of the API key that `token` creates for itself, in seconds. */
const PASSING_KEY_SECONDS = 60

const ALL_ROLES = ["owner", "admin", "member", "viewer"]

/** Files that hold the operator's secret of a local server. The first one that has it counts. */
const LOCAL_FILES = [".dev.vars", "wrangler.toml"]

/** What the user must correct. */
class UsageError extends Error {}

function readArgs() {
  try {
    return parseArgs({
      args: process.argv.slice(2),
      allowPositionals: true,
      options: {
        url: { type: "string", default: "http://127.0.0.1:8787" },
        "secret-env": { type: "string", default: "OPERATOR_SECRET" },
        region: { type: "string" },
        name: { type: "string" },
        role: { type: "string", multiple: true },
        user: { type: "string" },
        ttl: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    })
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`)
  }
}

type Options = ReturnType<typeof readArgs>["values"]

function isLocalUrl({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" || /^127\./.test(hostname)
}

/** The server's URL. Secrets are sent over https, or stay on this machine. */
function readUrl({ url }: Options): URL {
  const parsed = URL.parse(url.replace(/\/*$/, "/"))
  if (parsed === null) throw new UsageError(`${url} is not a URL.`)
  if (parsed.protocol !== "https:" && !isLocalUrl(parsed))
    throw new UsageError(`${url} would receive a secret unencrypted. Use https.`)
  return parsed
}

/** The operator's secret. It is never an argument, because every user of a machine can read those. */
function readSecret(options: Options): string {
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

/** Sends a request and returns its JSON response. Throws with the server's text if it refuses. */
async function request(options: Options, path: string, secret: string, body?: object): Promise<JsonObject> {
  const url = new URL(path, readUrl(options))
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: "error",
    signal: AbortSignal.timeout(REQUEST_MS),
  }).catch((error: unknown) => {
    throw new UsageError(`${url.origin} does not respond (${errorText(error)}). Is the server running?`)
  })
  const parsed = parseJson(await response.text())
  if (!isJsonObject(parsed)) throw new UsageError(`${url.origin} answered ${response.status}. Is it a Cuecard server?`)
  if (response.ok) return parsed
  throw new UsageError(`${parsed["text"]} (${parsed["code"]})${hintFor(parsed["code"])}`)
}

function hintFor(code: unknown): string {
  if (code === "route_unknown") return "\nThe server has no OPERATOR_SECRET, or is older than this command."
  return code === "token_invalid" ? "\nThe operator's secret is not the server's." : ""
}

function errorText(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}

function print(options: Options, response: JsonObject, text: string): void {
  console.log(options.json ? JSON.stringify(response) : text)
}

function readSeconds({ ttl }: Options): number | undefined {
  if (ttl === undefined) return undefined
  if (!/^\d{1,9}$/.test(ttl)) throw new UsageError("--ttl is a number of seconds.")
  return Number(ttl)
}

async function createTenant(options: Options, name: string): Promise<void> {
  const id = options.region === undefined ? name : `${options.region}.${name}`
  const created = await request(options, "v1/tenants", readSecret(options), { id, name: options.name })
  print(
    options,
    created,
    `Created the tenant ${id}.

Its API key, which may do everything in the tenant. It is shown only now:

  ${created["key"]}

Next: a token for a user, as your customer's backend requests it (POST /v1/tokens):

  CUECARD_KEY=${created["key"]} npm run tenant -- token ${id} --user ada${urlOption(options)}${await describePage(options, id)}`,
  )
}

/** Where a developer can chat as a user of a tenant, if the server is one for development. */
async function describePage(options: Options, id: string): Promise<string> {
  const url = readUrl(options)
  if (!isLocalUrl(url)) return ""
  const isDev = await fetch(new URL("v1/dev/token", url), { method: "POST" })
    .then(({ ok }) => ok)
    .catch(() => false)
  const host = `${id.split(".").reverse().join(".")}.localhost${url.port === "" ? "" : `:${url.port}`}`
  return isDev ? `\n\nOr chat in it at once, on this machine:\n\n  http://${host}` : ""
}

function urlOption({ url }: Options): string {
  return url === "http://127.0.0.1:8787" ? "" : ` --url ${url}`
}

async function listTenants(options: Options): Promise<void> {
  const ids: string[] = []
  let path = "v1/tenants"
  for (;;) {
    const page = await request(options, path, readSecret(options))
    ids.push(...(page["tenants"] as readonly { readonly id: string }[]).map(({ id }) => id))
    if (typeof page["next"] !== "string") break
    path = `v1/tenants?after=${encodeURIComponent(page["next"])}`
  }
  print(options, { tenants: ids.map((id) => ({ id })) }, ids.length === 0 ? "There are no tenants." : ids.join("\n"))
}

async function createKey(options: Options, id: string): Promise<void> {
  const body = { name: options.name ?? "npm run tenant", roles: options.role, ttl: readSeconds(options) }
  const created = await request(options, `v1/tenants/${encodeURIComponent(id)}/keys`, readSecret(options), body)
  const roles = (created["roles"] as readonly string[]).join(", ")
  print(
    options,
    created,
    `A new API key of ${id}, for tokens of these roles: ${roles}. It is shown only now:\n\n  ${created["key"]}`,
  )
}

async function createToken(options: Options, id: string): Promise<void> {
  const { user, name, role: [role] = [] } = options
  if (user === undefined) throw new UsageError(`Whose token? Add --user.\n\n${USAGE}`)
  const key = await readApiKey(options, id, role)
  const issued = await request(options, "v1/tokens", key, { user, name, role, ttl: readSeconds(options) })
  const expires = new Date(Number(issued["expires"]) * 1000).toLocaleString("sv-SE")
  print(
    options,
    issued,
    `A token for ${user} of ${id}, valid until ${expires}:

  ${issued["token"]}

Try it:

  curl ${options.url.replace(/\/*$/, "")}/v1/sessions -H "Authorization: Bearer ${issued["token"]}"`,
  )
}

/** The API key of the environment, or one that expires at once. */
async function readApiKey(options: Options, id: string, role: string | undefined): Promise<string> {
  const given = process.env["CUECARD_KEY"]
  if (given !== undefined && given !== "") {
    // A token of another tenant than the command names would be a surprise.
    if (!given.startsWith(`ck_${id}_`)) throw new UsageError(`The key in CUECARD_KEY is not one of ${id}.`)
    return given
  }
  const body = {
    name: "npm run tenant -- token",
    roles: role === undefined ? ALL_ROLES : [role],
    ttl: PASSING_KEY_SECONDS,
  }
  const created = await request(options, `v1/tenants/${encodeURIComponent(id)}/keys`, readSecret(options), body)
  return String(created["key"])
}

async function run(): Promise<void> {
  const { values, positionals } = readArgs()
  const [command = "", id = "", ...rest] = positionals
  const commands: Readonly<Record<string, (options: Options, id: string) => Promise<void>>> = {
    create: createTenant,
    key: createKey,
    token: createToken,
  }
  if (values.help) return console.log(USAGE)
  if (rest.length > 0) throw new UsageError(`Unexpected: ${rest.join(" ")}\n\n${USAGE}`)
  if (command === "list" && id === "") return await listTenants(values)
  const runCommand = Object.hasOwn(commands, command) ? commands[command] : undefined
  if (runCommand === undefined || id === "") throw new UsageError(USAGE)
  await runCommand(values, id)
}

try {
  await run()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
