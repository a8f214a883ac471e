/**
 * tenant.ts: `npm run tenant` creates and lists tenants, issues API keys and tokens for them, and exports, imports and
 * erases them, through the server's HTTP API.
 *
 * `npm run tenant -- create acme` · `list` · `key acme` · `token acme --user ada` · `export acme`
 * `npm run tenant -- erase acme --confirm acme`
 */

import process from "node:process"
import { parseArgs } from "node:util"
import { exportTenant, importTenant } from "./tenant/tenant-archive.ts"
import { eraseTenant, restoreTenant, showReceipt } from "./tenant/tenant-erasure.ts"
import { createPassingKey, readGivenKey } from "./tenant/owner-access.ts"
import {
  isLocalUrl,
  type JsonObject,
  readSecret,
  readUrl,
  requestJson,
  urlOption,
  UsageError,
} from "./tenant/tenant-request.ts"

const USAGE = `npm run tenant -- create ID [--region eu] [--name NAME]    create a tenant, and print its first API key
npm run tenant -- list                                     list all tenants
npm run tenant -- key ID [--role ROLE]… [--name NAME] [--ttl SECONDS]
                                                           give a tenant another API key
npm run tenant -- token ID --user USER [--role ROLE] [--name NAME] [--ttl SECONDS]
                                                           print a token for a user
npm run tenant -- export ID [--to FOLDER]                  write all data of a tenant into a folder. Repeating it continues
npm run tenant -- import ID --from FOLDER                  import such a folder into a tenant without conversations
npm run tenant -- erase ID --confirm ID [--user USER]      erase a tenant in 7 days, or one user now
npm run tenant -- undo ID                                  keep a tenant that is being erased
npm run tenant -- receipt ID                               what the erasure of a tenant has removed

--url URL            the server, default http://127.0.0.1:8787
--secret-env NAME    the variable with the operator's secret, default OPERATOR_SECRET. For a server on this machine,
                     .dev.vars and wrangler.toml are read too
--json               print the response as JSON
token, export, import, erase and undo use the API key in CUECARD_KEY if it is set. Otherwise the operator's routes make one
that expires soon: after a minute for a token, after an hour for the others.`

/** Lifetime of the API key that `token` creates for itself, in seconds. */
const PASSING_KEY_SECONDS = 60

const ALL_ROLES = ["owner", "admin", "member", "viewer"]

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
        to: { type: "string" },
        from: { type: "string" },
        confirm: { type: "string" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    })
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`)
  }
}

type Options = ReturnType<typeof readArgs>["values"]

function printResponse(options: Options, response: JsonObject, text: string): void {
  console.log(options.json ? JSON.stringify(response) : text)
}

function readSeconds({ ttl }: Options): number | undefined {
  if (ttl === undefined) return undefined
  if (!/^\d{1,9}$/.test(ttl)) throw new UsageError("--ttl is a number of seconds.")
  return Number(ttl)
}

async function createTenant(options: Options, name: string): Promise<void> {
  const id = options.region === undefined ? name : `${options.region}.${name}`
  const created = await requestJson(options, "v1/tenants", readSecret(options), { id, name: options.name })
  printResponse(
    options,
    created,
    `Created the tenant ${id}.

Its API key, which may do everything in the tenant. It is shown only now:

  ${created["key"]}

Next: a token for a user, as your customer's backend requests it (POST /v1/tokens):

  CUECARD_KEY=${created["key"]} npm run tenant -- token ${id} --user ada${urlOption(options)}${await describePage(options, id)}`,
  )
}

/**
 * Returns the text with the URL at which a developer can chat as a user of a tenant, if the server is a development
 * server.
 */
async function describePage(options: Options, id: string): Promise<string> {
  const url = readUrl(options)
  if (!isLocalUrl(url)) return ""
  const isDev = await fetch(new URL("v1/dev/token", url), { method: "POST" })
    .then(({ ok }) => ok)
    .catch(() => false)
  const host = `${id.split(".").reverse().join(".")}.localhost${url.port === "" ? "" : `:${url.port}`}`
  return isDev ? `\n\nOr chat in it at once, on this machine:\n\n  http://${host}` : ""
}

async function listTenants(options: Options): Promise<void> {
  const ids: string[] = []
  let path = "v1/tenants"
  for (;;) {
    const page = await requestJson(options, path, readSecret(options))
    ids.push(...(page["tenants"] as readonly { readonly id: string }[]).map(({ id }) => id))
    if (typeof page["next"] !== "string") break
    path = `v1/tenants?after=${encodeURIComponent(page["next"])}`
  }
  printResponse(
    options,
    { tenants: ids.map((id) => ({ id })) },
    ids.length === 0 ? "There are no tenants." : ids.join("\n"),
  )
}

async function createKey(options: Options, id: string): Promise<void> {
  const body = { name: options.name ?? "npm run tenant", roles: options.role, ttl: readSeconds(options) }
  const created = await requestJson(options, `v1/tenants/${encodeURIComponent(id)}/keys`, readSecret(options), body)
  const roles = (created["roles"] as readonly string[]).join(", ")
  printResponse(
    options,
    created,
    `A new API key of ${id}, for tokens with these roles: ${roles}. It is shown only now:\n\n  ${created["key"]}`,
  )
}

async function createToken(options: Options, id: string): Promise<void> {
  const { user, name, role: [role] = [] } = options
  if (user === undefined) throw new UsageError(`Whose token? Add --user.\n\n${USAGE}`)
  const roles = role === undefined ? ALL_ROLES : [role]
  const key =
    readGivenKey(id) ??
    (await createPassingKey(options, id, { purpose: "token", roles, seconds: PASSING_KEY_SECONDS })).key
  const issued = await requestJson(options, "v1/tokens", key, { user, name, role, ttl: readSeconds(options) })
  const expires = new Date(Number(issued["expires"]) * 1000).toLocaleString("sv-SE")
  printResponse(
    options,
    issued,
    `A token for ${user} of ${id}, valid until ${expires}:

  ${issued["token"]}

Try it:

  curl ${options.url.replace(/\/*$/, "")}/v1/sessions -H "Authorization: Bearer ${issued["token"]}"`,
  )
}

async function runCommand(): Promise<void> {
  const { values, positionals } = readArgs()
  const [command = "", id = "", ...rest] = positionals
  const commands: Readonly<Record<string, (options: Options, id: string) => Promise<void>>> = {
    create: createTenant,
    key: createKey,
    token: createToken,
    export: async (options, tenant) => printResponse(options, ...(await exportTenant(options, tenant))),
    import: async (options, tenant) => printResponse(options, ...(await importTenant(options, tenant))),
    erase: async (options, tenant) => printResponse(options, ...(await eraseTenant(options, tenant))),
    undo: async (options, tenant) => printResponse(options, ...(await restoreTenant(options, tenant))),
    receipt: async (options, tenant) => printResponse(options, ...(await showReceipt(options, tenant))),
  }
  if (values.help) return console.log(USAGE)
  if (rest.length > 0) throw new UsageError(`Unexpected: ${rest.join(" ")}\n\n${USAGE}`)
  if (command === "list" && id === "") return await listTenants(values)
  const runCommand = Object.hasOwn(commands, command) ? commands[command] : undefined
  if (runCommand === undefined || id === "") throw new UsageError(USAGE)
  await runCommand(values, id)
}

try {
  await runCommand()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
