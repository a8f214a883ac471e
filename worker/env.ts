/**
 * env.ts: the Worker's variables and bindings, and the checks that a deployment is safe.
 *
 * The names match wrangler.toml. An unsafe deployment reports its faults and serves nothing (SPEC AU3, AU6).
 */

import * as v from "valibot"
import { MIN_SECRET_BYTES } from "../shared/limits.ts"
import { countUtf8Bytes } from "../shared/truncate.ts"
import type { BackupBuckets } from "./backup/backup-bucket.ts"
import { type BackupVars, findBackupFaults } from "./backup/backup-plan.ts"
import { newTenantIdSchema, tenantIdSchema } from "./platform/tenant-id.ts"
import { splitCommaList } from "./platform/comma-list.ts"
import { checkRegion, type RegionBuckets } from "./platform/media-bucket.ts"
import type { DirectoryRpc } from "./platform/rpc/directory-rpc.ts"
import { isPlainOrigin } from "./platform/origin.ts"
import type { RegistryRpc } from "./platform/rpc/registry-rpc.ts"
import type { SessionRpc } from "./platform/rpc/session-rpc.ts"
import type { TenantRpc } from "./settings/tenant-rpc.ts"
import { findAllowListFaults } from "./settings/tenant-settings.ts"

/** The rate limiting bindings of wrangler.toml. A limit applies only if its binding exists. */
export interface RateBindings {
  readonly RATE_WRITE?: RateLimit
  readonly RATE_WRITE_TENANT?: RateLimit
  readonly RATE_READ?: RateLimit
  readonly RATE_READ_TENANT?: RateLimit
  readonly RATE_SOCKET?: RateLimit
  readonly RATE_SOCKET_TENANT?: RateLimit
  /** Counts failed sign-ins per IPv4 address or IPv6 network. */
  readonly RATE_SIGN_IN?: RateLimit
}

export interface Env extends BackupBuckets, BackupVars, RegionBuckets, RateBindings {
  readonly SESSION: DurableObjectNamespace<SessionRpc>
  readonly DIRECTORY: DurableObjectNamespace<DirectoryRpc>
  readonly TENANT: DurableObjectNamespace<TenantRpc>
  readonly REGISTRY: DurableObjectNamespace<RegistryRpc>
  /** The page's files. */
  readonly ASSETS: Fetcher
  /** Stores the assets of tenants without a region. The other buckets are in RegionBuckets. */
  readonly MEDIA: R2Bucket
  /**
   * `local` or `production`. A production deployment rejects every setting that is only safe on a developer's machine.
   */
  readonly ENVIRONMENT: string
  /** `dev`: the page can fetch a token for the tenant `demo`. `jwt`: other services issue the tokens. */
  readonly AUTH: string
  /** Signs and verifies tokens (HS256). Must have at least MIN_SECRET_BYTES. */
  readonly JWT_SECRET?: string
  /**
   * Secrets for stored keys, comma-separated, newest first (platform/crypto/seal-secret.ts). Default: JWT_SECRET.
   */
  readonly SEALING_SECRETS?: string
  /**
   * The credential with which the operator creates tenants. Must have at least MIN_SECRET_BYTES. Without it, the
   * operator's routes do not exist.
   */
  readonly OPERATOR_SECRET?: string
  /** Origins that may call the API in addition to the deployment's own, comma-separated. */
  readonly ALLOWED_ORIGINS?: string
  /**
   * The tenant whose page this host serves. Its settings determine what the page may frame. Default with AUTH=dev:
   * `demo`.
   */
  readonly PAGE_TENANT?: string
  /** The domain under which each tenant has its own host: `<tenant>.<domain>` or `<tenant>.<region>.<domain>`. */
  readonly PAGE_DOMAIN?: string
  /** A separate origin that serves only canvas documents. Without it, documents share the page's origin. */
  readonly CANVAS_ORIGIN?: string
  /** The page's origin. Required with CANVAS_ORIGIN: only the page may frame documents. */
  readonly PAGE_ORIGIN?: string
  /** Origins that the pages of all tenants may frame, comma-separated. */
  readonly EMBED_ORIGINS?: string
  /** Hosts whose media is loaded without a click in all tenants, comma-separated. */
  readonly MEDIA_HOSTS?: string
  /** `off`: the model titles only the sessions of tenants that have turned automatic titles on. */
  readonly AUTO_TITLES?: string
  /**
   * `on`: browsers store the page, so that it opens without a network. With any other value, browsers remove the stored
   * page. Default: `on` in production.
   */
  readonly SERVICE_WORKER?: string
  /** `sample` (the default) or `open-meteo`. */
  readonly WEATHER_SOURCE?: string
  readonly OPEN_METEO_URL?: string
  readonly OPEN_METEO_GEOCODING_URL?: string
  /** The service of the tool `search`: `sample` (the default), `brave`, `tavily` or `searxng`. */
  readonly SEARCH_SERVICE?: string
  /** The search service's API key. */
  readonly SEARCH_API_KEY?: string
  /** The search service's URL, without a path. Required for `searxng`. */
  readonly SEARCH_URL?: string
  /** Workers AI, for images and for models. Without it, the built-in renderer draws images. */
  readonly AI?: { run(model: string, input: object, options?: object): Promise<unknown> }
  /** The text-to-image model of Workers AI. */
  readonly IMAGE_MODEL?: string
  /** `scripted`, `openai` or `workers-ai`. Default: `openai` if MODEL_BASE_URL is set, otherwise `scripted`. */
  readonly MODEL?: string
  readonly MODEL_BASE_URL?: string
  readonly MODEL_NAME?: string
  readonly MODEL_API_KEY?: string
  /** Kinds of files that the model accepts, comma-separated: image, pdf, audio, video. Default: `image`. */
  readonly MODEL_TAKES?: string
  /** An Analytics Engine dataset for data points about requests and turns. */
  readonly METRICS?: AnalyticsEngineDataset
  /** `log`: data points are logged, with or without METRICS. For local use and tests. */
  readonly POINTS?: string
  /** The destination of turn spans: `platform` or `log`. Without it, no spans are created. */
  readonly SPANS?: string
  /** The share of turns with spans, 0 to 1. Default: DEFAULT_SPAN_SAMPLING of telemetry/telemetry.ts. */
  readonly SPAN_SAMPLING?: string
  /** For tests: the output of each model call of a turn, as JSON (`ModelEvent[][]`). */
  readonly MODEL_SCRIPT?: string
  /** Maximum tokens of one model call. Default: MODEL_CONTEXT_TOKENS of shared/limits.ts. */
  readonly MODEL_CONTEXT_TOKENS?: string
  /** For tests: a factor that shortens all time limits. See platform/time-limits.ts. */
  readonly TIME_SCALE?: string
  /** For tests: the grace period before a tenant is erased, in milliseconds. */
  readonly TENANT_GRACE_MS?: string
  /** For tests: `on` adds the tools of tool/probe-tools.ts. */
  readonly PROBE_TOOLS?: string
  readonly PROBE_URL?: string
  /**
   * For tests: fetches of remote media and of pages go to this server, with the requested URL in the path. See
   * routes/media/remote-fetch.ts.
   */
  readonly MEDIA_UPSTREAM?: string
  /** The scripted model's pause between two tokens, in milliseconds. */
  readonly SCRIPTED_DELAY_MS?: string
}

/** Variables for tests only. A production deployment rejects them. */
const TEST_VARS = [
  "TIME_SCALE",
  "TENANT_GRACE_MS",
  "PROBE_TOOLS",
  "PROBE_URL",
  "MODEL_SCRIPT",
  "MEDIA_UPSTREAM",
] as const

export type DeploymentEnv = Pick<
  Env,
  | "ENVIRONMENT"
  | "AUTH"
  | "JWT_SECRET"
  | "OPERATOR_SECRET"
  | "SEALING_SECRETS"
  | "ALLOWED_ORIGINS"
  | "PAGE_TENANT"
  | "PAGE_DOMAIN"
  | "CANVAS_ORIGIN"
  | "PAGE_ORIGIN"
  | "EMBED_ORIGINS"
  | "MEDIA_HOSTS"
  | (typeof TEST_VARS)[number]
> &
  RegionBuckets &
  BackupVars

/** The secrets in wrangler.toml. They are public, so a production deployment rejects them. */
export const LOCAL_SECRET = "local-development-only-never-deploy-this"
export const LOCAL_OPERATOR_SECRET = "local-operator-only-never-deploy-this"

/** Returns the origins of ALLOWED_ORIGINS. Ignores `null`, because every sandboxed page has this origin. */
export function parseAllowedOrigins({ ALLOWED_ORIGINS }: Pick<Env, "ALLOWED_ORIGINS">): readonly string[] {
  return splitCommaList(ALLOWED_ORIGINS).filter((origin) => origin !== "null")
}

/** Returns all reasons why this deployment must not serve this URL, as one string; null if there are none. */
export function findDeploymentFault(env: DeploymentEnv, url: URL): string | null {
  const faults = [
    ...findEnvironmentFaults(env),
    ...findCanvasFaults(env),
    ...findPageFaults(env),
    ...findAllowListFaults(env),
    ...findBackupFaults(env),
    ...(env.ENVIRONMENT === "local" ? findAddressFaults(env, url) : []),
  ]
  return faults.length === 0 ? null : faults.join("; ")
}

function findEnvironmentFaults(env: DeploymentEnv): string[] {
  const isProduction = env.ENVIRONMENT === "production"
  const faults: string[] = []
  // Only listed values are accepted: a misspelt "prodution" must not count as local.
  if (!isProduction && env.ENVIRONMENT !== "local") faults.push("ENVIRONMENT is neither local nor production")
  if (env.AUTH !== "dev" && env.AUTH !== "jwt") faults.push("AUTH is neither dev nor jwt")
  if (isProduction && env.AUTH === "dev") faults.push("AUTH is dev in production")
  faults.push(...findSecretFaults(env))
  for (const name of TEST_VARS) if (isProduction && env[name] !== undefined) faults.push(`${name} is set in production`)
  return faults
}

function findSecretFaults({ JWT_SECRET = "", OPERATOR_SECRET, SEALING_SECRETS, ENVIRONMENT }: DeploymentEnv): string[] {
  const faults: string[] = []
  if (JWT_SECRET === "") faults.push("JWT_SECRET is missing")
  const sealing = splitCommaList(SEALING_SECRETS)
  if (SEALING_SECRETS !== undefined && sealing.length === 0) faults.push("SEALING_SECRETS is empty")
  const secrets: [string, string | undefined][] = Object.entries({ JWT_SECRET, OPERATOR_SECRET })
  for (const secret of sealing) secrets.push(["SEALING_SECRETS", secret])
  for (const [name, secret] of secrets) {
    if (secret === undefined || (name === "JWT_SECRET" && secret === "")) continue
    if (countUtf8Bytes(secret) < MIN_SECRET_BYTES) faults.push(`${name} is shorter than ${MIN_SECRET_BYTES} bytes`)
    const isPublic = secret === LOCAL_SECRET || secret === LOCAL_OPERATOR_SECRET
    if (ENVIRONMENT === "production" && isPublic) faults.push(`${name} is the local development secret`)
  }
  if (OPERATOR_SECRET !== undefined && !/^[\x21-\x7e]*$/.test(OPERATOR_SECRET))
    faults.push("OPERATOR_SECRET contains characters that are not allowed in a header")
  // Otherwise anybody who may create tenants could sign tokens for all of them.
  if (OPERATOR_SECRET === JWT_SECRET && JWT_SECRET !== "") faults.push("OPERATOR_SECRET is the same as JWT_SECRET")
  return faults
}

/**
 * Returns the tenant whose page is served at this URL; null if there is none. With PAGE_DOMAIN, the host name
 * determines it.
 */
export function getPageTenant(env: PageTenantEnv, { hostname }: URL): string | null {
  const { AUTH, PAGE_TENANT, PAGE_DOMAIN } = env
  if (PAGE_DOMAIN !== undefined) return readHostTenant(env, hostname, PAGE_DOMAIN)
  if (PAGE_TENANT !== undefined) return PAGE_TENANT
  // On a developer's machine, every tenant gets its own page without configuration.
  return AUTH === "dev" ? (readHostTenant(env, hostname, "localhost") ?? "demo") : null
}

/**
 * Reads the tenant from a host name. `acme.<domain>` names the tenant `acme`, and `acme.eu.<domain>` the tenant
 * `eu.acme` if that region is served.
 */
function readHostTenant(env: PageTenantEnv, hostname: string, domain: string): string | null {
  if (!hostname.endsWith(`.${domain}`)) return null
  const [name = "", ...region] = hostname.slice(0, -domain.length - 1).split(".")
  const tenant = [...region, name].join(".")
  const isServed = region.length <= 1 && v.is(newTenantIdSchema, tenant) && checkRegion(env, tenant).ok
  return isServed ? tenant : null
}

type PageTenantEnv = Pick<Env, "ENVIRONMENT" | "AUTH" | "PAGE_TENANT" | "PAGE_DOMAIN"> & RegionBuckets

/** Returns the origin of canvas documents; null if it is the page's origin. */
export function getCanvasOrigin({ CANVAS_ORIGIN }: Pick<Env, "CANVAS_ORIGIN">): string | null {
  return CANVAS_ORIGIN ?? null
}

/**
 * Finds faults in the configuration of the canvas origin. That origin must differ from every origin that can call the
 * API, because otherwise only the sandbox would isolate documents.
 */
function findCanvasFaults(env: DeploymentEnv): string[] {
  const { CANVAS_ORIGIN, PAGE_ORIGIN, PAGE_DOMAIN } = env
  const isUsableOrigin = (origin: string): boolean =>
    isPlainOrigin(origin) && (origin.startsWith("https://") || env.ENVIRONMENT === "local")
  const faults: string[] = []
  if (PAGE_ORIGIN !== undefined && !isUsableOrigin(PAGE_ORIGIN)) faults.push("PAGE_ORIGIN is not an https origin")
  if (CANVAS_ORIGIN === undefined) return faults
  if (!isUsableOrigin(CANVAS_ORIGIN)) faults.push("CANVAS_ORIGIN is not an https origin")
  if (PAGE_ORIGIN === undefined && PAGE_DOMAIN === undefined)
    faults.push("CANVAS_ORIGIN is set, but PAGE_ORIGIN is missing")
  const canvasHost = URL.canParse(CANVAS_ORIGIN) ? new URL(CANVAS_ORIGIN).hostname : ""
  if (PAGE_DOMAIN !== undefined && `.${canvasHost}`.endsWith(`.${PAGE_DOMAIN}`))
    faults.push("CANVAS_ORIGIN is PAGE_DOMAIN or one of its subdomains")
  const callerOrigins = [...parseAllowedOrigins(env), PAGE_ORIGIN]
  if (callerOrigins.includes(CANVAS_ORIGIN)) faults.push("CANVAS_ORIGIN is PAGE_ORIGIN or in ALLOWED_ORIGINS")
  return faults
}

/** Matches a host name in lower case, as browsers send it. */
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

function findPageFaults(env: DeploymentEnv): string[] {
  const { PAGE_TENANT, PAGE_DOMAIN, PAGE_ORIGIN, ENVIRONMENT } = env
  const faults: string[] = []
  if (PAGE_TENANT !== undefined && !v.is(tenantIdSchema, PAGE_TENANT))
    faults.push("PAGE_TENANT is not a valid tenant id")
  else if (PAGE_TENANT !== undefined && !checkRegion(env, PAGE_TENANT).ok)
    faults.push("PAGE_TENANT has a region whose bucket is not bound")
  if (PAGE_DOMAIN === undefined) return faults
  const isUsable = HOST_NAME.test(PAGE_DOMAIN) && (PAGE_DOMAIN.includes(".") || ENVIRONMENT === "local")
  if (!isUsable) faults.push("PAGE_DOMAIN is not a domain in lower case")
  if (PAGE_TENANT !== undefined) faults.push("PAGE_DOMAIN and PAGE_TENANT are both set")
  if (PAGE_ORIGIN !== undefined) faults.push("PAGE_DOMAIN and PAGE_ORIGIN are both set")
  return faults
}

/**
 * Reports a local deployment that is reached at a public DNS name. A local deployment trusts every client, so it must
 * not respond at a public name. Either it was deployed by mistake, or another site has pointed its own host name at
 * this machine (DNS rebinding).
 */
function findAddressFaults(env: DeploymentEnv, url: URL): string[] {
  if (!isPublicName(url.hostname) || parseAllowedOrigins(env).includes(url.origin)) return []
  return ["ENVIRONMENT is local, but the address is public and not listed in ALLOWED_ORIGINS"]
}

/** Suffixes that public DNS never serves. */
const PRIVATE_SUFFIXES = [".localhost", ".local", ".lan", ".internal", ".home.arpa", ".test"]

function isPublicName(hostname: string): boolean {
  const isIpAddress = hostname.startsWith("[") || /^[\d.]+$/.test(hostname)
  return !isIpAddress && hostname.includes(".") && !PRIVATE_SUFFIXES.some((suffix) => hostname.endsWith(suffix))
}
