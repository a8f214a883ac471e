/**
 * env.ts: what a deployment gives the Worker, and whether it may serve with it.
 *
 * Names are those of wrangler.toml. A production deployment that is unsafe says so and serves nothing (SPEC AU3).
 */

import { MIN_SECRET_BYTES } from "../shared/limits.ts"
import { utf8Bytes } from "../shared/truncate.ts"
import type { Session } from "./session/object.ts"
import type { Directory } from "./tenant/directory.ts"

export interface Env {
  readonly SESSION: DurableObjectNamespace<Session>
  readonly DIRECTORY: DurableObjectNamespace<Directory>
  readonly ASSETS: Fetcher
  /** `production` refuses everything that is only safe on one's own machine. */
  readonly ENVIRONMENT: string
  /** `dev`: the page may fetch a token for the tenant `demo`. Else tokens come from outside. */
  readonly AUTH: string
  /** Signs and verifies tokens (HS256); at least MIN_SECRET_BYTES. */
  readonly JWT_SECRET?: string
  /** Comma-separated origins that may call besides our own. */
  readonly ALLOWED_ORIGINS?: string
  readonly WEATHER_SOURCE?: string
  readonly OPEN_METEO_URL?: string
  readonly OPEN_METEO_GEOCODING_URL?: string
  readonly MODEL?: string
  readonly MODEL_BASE_URL?: string
  readonly MODEL_NAME?: string
  readonly MODEL_API_KEY?: string
  /** JSON: what each model call of a turn says, for tests (`ModelEvent[][]`). */
  readonly MODEL_SCRIPT?: string
  /** Pause of the scripted model between two tokens, in milliseconds. */
  readonly SCRIPTED_DELAY_MS?: string
}

/** The secret of wrangler.toml: public, so good for nothing but one's own machine. */
export const LOCAL_SECRET = "local-development-only-never-deploy-this"

/** Why this deployment must not serve; null where it may. */
export function deploymentFault(env: Pick<Env, "ENVIRONMENT" | "AUTH" | "JWT_SECRET">): string | null {
  const secret = env.JWT_SECRET ?? ""
  if (secret === "") return "JWT_SECRET is missing"
  if (utf8Bytes(secret) < MIN_SECRET_BYTES) return `JWT_SECRET is shorter than ${MIN_SECRET_BYTES} bytes`
  if (env.ENVIRONMENT !== "production") return null
  if (env.AUTH === "dev") return "AUTH is dev in production"
  return secret === LOCAL_SECRET ? "JWT_SECRET is the local development secret" : null
}
