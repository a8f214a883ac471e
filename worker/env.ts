/**
 * env.ts: what a deployment gives the Worker, and whether it may serve with it.
 *
 * Names are those of wrangler.toml. A deployment that is unsafe says so and serves nothing (SPEC AU3, AU6).
 */

import * as v from "valibot"
import { idSchema } from "../shared/protocol/event.ts"
import { MIN_SECRET_BYTES } from "../shared/limits.ts"
import { countUtf8Bytes } from "../shared/truncate.ts"
import type { ImageEnv } from "./tool/image-ai.ts"
import { isPlainOrigin } from "./routes/content-policy.ts"
import type { Session } from "./session/session-object.ts"
import type { Directory } from "./auth/user-directory.ts"
import { findAllowListFaults } from "./tenant/tenant-settings.ts"
import type { Tenant } from "./tenant/tenant-object.ts"

export interface Env {
  readonly SESSION: DurableObjectNamespace<Session>
  readonly DIRECTORY: DurableObjectNamespace<Directory>
  readonly TENANT: DurableObjectNamespace<Tenant>
  readonly ASSETS: Fetcher
  /** Bytes of what people upload and tools make. */
  readonly MEDIA: R2Bucket
  /** `local` or `production`; the latter refuses everything that is only safe on one's own machine. */
  readonly ENVIRONMENT: string
  /** `dev`: the page may fetch a token for the tenant `demo`. `jwt`: tokens come from outside. */
  readonly AUTH: string
  /** Signs and verifies tokens (HS256); at least MIN_SECRET_BYTES. */
  readonly JWT_SECRET?: string
  /** Comma-separated origins that may call besides our own. */
  readonly ALLOWED_ORIGINS?: string
  /** The tenant whose page this host shows, for what the page may frame; with AUTH=dev `demo`. */
  readonly PAGE_TENANT?: string
  /** An origin for canvas documents alone; it serves nothing else. Without it they stand on the page's own. */
  readonly CANVAS_ORIGIN?: string
  /** Where the page is; needed with CANVAS_ORIGIN, whose documents only the page may frame. */
  readonly PAGE_ORIGIN?: string
  /** Comma-separated, for all tenants: origins that may be framed, hosts whose media is loaded without a click. */
  readonly EMBED_ORIGINS?: string
  readonly MEDIA_HOSTS?: string
  readonly WEATHER_SOURCE?: string
  readonly OPEN_METEO_URL?: string
  readonly OPEN_METEO_GEOCODING_URL?: string
  /** Workers AI paints pictures where it is bound (tool/image-ai.ts). */
  readonly AI?: NonNullable<ImageEnv["AI"]>
  readonly IMAGE_MODEL?: string
  readonly MODEL?: string
  readonly MODEL_BASE_URL?: string
  readonly MODEL_NAME?: string
  readonly MODEL_API_KEY?: string
  /** Files that the model reads beside text: a comma-separated list of image, pdf, audio, video; `image` where it is not set. */
  readonly MODEL_TAKES?: string
  /** JSON: what each model call of a turn says, for tests (`ModelEvent[][]`). */
  readonly MODEL_SCRIPT?: string
  /** Tokens that go into one model call; MODEL_CONTEXT_TOKENS of shared/limits.ts where it is not set. */
  readonly MODEL_CONTEXT_TOKENS?: string
  /** For tests; a production deployment refuses them. See times.ts, tool/probe.ts. */
  readonly TIME_SCALE?: string
  readonly PROBE_TOOLS?: string
  readonly PROBE_URL?: string
  /** For tests: all that is fetched from public addresses is asked of this server, by its address. See routes/remote-fetch.ts. */
  readonly MEDIA_UPSTREAM?: string
  /** Pause of the scripted model between two tokens, in milliseconds. */
  readonly SCRIPTED_DELAY_MS?: string
}

/** Variables that are only for tests. */
const TEST_VARS = ["TIME_SCALE", "PROBE_TOOLS", "PROBE_URL", "MODEL_SCRIPT", "MEDIA_UPSTREAM"] as const

export type DeploymentEnv = Pick<
  Env,
  | "ENVIRONMENT"
  | "AUTH"
  | "JWT_SECRET"
  | "ALLOWED_ORIGINS"
  | "PAGE_TENANT"
  | "CANVAS_ORIGIN"
  | "PAGE_ORIGIN"
  | "EMBED_ORIGINS"
  | "MEDIA_HOSTS"
  | (typeof TEST_VARS)[number]
>

/** The secret of wrangler.toml: public, so good for nothing but one's own machine. */
export const LOCAL_SECRET = "local-development-only-never-deploy-this"

/** The origins of ALLOWED_ORIGINS. `null` is no origin but many, so it cannot be listed. */
export function parseAllowedOrigins(env: Pick<Env, "ALLOWED_ORIGINS">): readonly string[] {
  const listed = (env.ALLOWED_ORIGINS ?? "").split(",").map((origin) => origin.trim())
  return listed.filter((origin) => origin !== "" && origin !== "null")
}

/** Why this deployment must not serve at this address, every reason in one sentence; null where it may. */
export function findDeploymentFault(env: DeploymentEnv, url: URL): string | null {
  const faults = [
    ...findEnvironmentFaults(env),
    ...findCanvasFaults(env),
    ...findAllowListFaults(env),
    ...(env.ENVIRONMENT === "local" ? findAddressFaults(env, url) : []),
  ]
  return faults.length === 0 ? null : faults.join("; ")
}

function findEnvironmentFaults(env: DeploymentEnv): string[] {
  const secret = env.JWT_SECRET ?? ""
  const isProduction = env.ENVIRONMENT === "production"
  const faults: string[] = []
  // Closed lists: a misspelt "prodution" must not serve as if it were local.
  if (!isProduction && env.ENVIRONMENT !== "local") faults.push("ENVIRONMENT is neither local nor production")
  if (env.AUTH !== "dev" && env.AUTH !== "jwt") faults.push("AUTH is neither dev nor jwt")
  if (isProduction && env.AUTH === "dev") faults.push("AUTH is dev in production")
  if (secret === "") faults.push("JWT_SECRET is missing")
  else if (countUtf8Bytes(secret) < MIN_SECRET_BYTES)
    faults.push(`JWT_SECRET is shorter than ${MIN_SECRET_BYTES} bytes`)
  if (isProduction && secret === LOCAL_SECRET) faults.push("JWT_SECRET is the local development secret")
  for (const name of TEST_VARS) if (isProduction && env[name] !== undefined) faults.push(`${name} is set in production`)
  return faults
}

/** Whose page this is; null: nobody said. */
export function getPageTenant(env: Pick<Env, "AUTH" | "PAGE_TENANT">): string | null {
  return env.PAGE_TENANT ?? (env.AUTH === "dev" ? "demo" : null)
}

/** The origin of canvas documents; null: the page's own. */
export function getCanvasOrigin({ CANVAS_ORIGIN }: Pick<Env, "CANVAS_ORIGIN">): string | null {
  return CANVAS_ORIGIN ?? null
}

/** A document on the page's own origin would be told apart from the page by its sandbox alone: that must be meant so. */
function findCanvasFaults(env: DeploymentEnv): string[] {
  const { CANVAS_ORIGIN, PAGE_ORIGIN, PAGE_TENANT } = env
  const isUsableOrigin = (origin: string): boolean =>
    isPlainOrigin(origin) && (origin.startsWith("https://") || env.ENVIRONMENT === "local")
  const faults: string[] = []
  if (PAGE_TENANT !== undefined && !v.is(idSchema, PAGE_TENANT)) faults.push("PAGE_TENANT is no tenant's id")
  if (PAGE_ORIGIN !== undefined && !isUsableOrigin(PAGE_ORIGIN)) faults.push("PAGE_ORIGIN is no https origin")
  if (CANVAS_ORIGIN === undefined) return faults
  if (!isUsableOrigin(CANVAS_ORIGIN)) faults.push("CANVAS_ORIGIN is no https origin")
  if (PAGE_ORIGIN === undefined) faults.push("CANVAS_ORIGIN is set, and PAGE_ORIGIN is missing")
  const callerOrigins = [...parseAllowedOrigins(env), PAGE_ORIGIN]
  if (callerOrigins.includes(CANVAS_ORIGIN)) faults.push("CANVAS_ORIGIN is an origin that may call us")
  return faults
}

/**
 * A local deployment trusts whoever can reach it, so it must not answer to a name of the public DNS: either it was
 * deployed by mistake, or a page elsewhere has pointed its own name at this machine.
 */
function findAddressFaults(env: DeploymentEnv, url: URL): string[] {
  if (!isPublicName(url.hostname) || parseAllowedOrigins(env).includes(url.origin)) return []
  return ["ENVIRONMENT is local, but the address is a public one that ALLOWED_ORIGINS does not list"]
}

/** Top-level names that public DNS never serves. */
const PRIVATE_SUFFIXES = [".localhost", ".local", ".lan", ".internal", ".home.arpa", ".test"]

function isPublicName(hostname: string): boolean {
  const isIpAddress = hostname.startsWith("[") || /^[\d.]+$/.test(hostname)
  return !isIpAddress && hostname.includes(".") && !PRIVATE_SUFFIXES.some((suffix) => hostname.endsWith(suffix))
}
