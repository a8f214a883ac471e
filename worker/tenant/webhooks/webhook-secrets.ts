/**
 * webhook-secrets.ts: the secrets that sign requests to a tenant's services: sealed, rotated and opened. Loaded on
 * demand.
 *
 * After a rotation, the previous secret remains valid for a day. Source: SPEC TW2.
 */

import { parseJson } from "../../../shared/json.ts"
import { openSecret, sealSecret } from "../../platform/crypto/seal-secret.ts"
import { createWebhookSecret } from "../../webhook/webhook-signature.ts"
import type { TenantHost } from "../tenant-host.ts"

/** How long the previous secret remains valid after a rotation, in milliseconds. */
const OLD_SECRET_MS = 24 * 60 * 60_000

/** The content of a sealed value, as JSON. */
export interface Secrets {
  readonly current: string
  readonly old?: { readonly secret: string; readonly until: number }
}

/** The tool or the agent to which the secrets belong. A sealed value can be opened only for the same owner. */
export interface SecretOwner {
  readonly purpose: "webhook secret" | "agent webhook secret"
  readonly name: string
}

export async function sealSecrets({ env, tenant }: TenantHost, owner: SecretOwner, secrets: Secrets): Promise<string> {
  return await sealSecret(env, { tenant, ...owner }, JSON.stringify(secrets))
}

/** Returns null if there is no sealed value, or if it can't be opened. */
export async function openSecrets(
  { env, tenant }: TenantHost,
  owner: SecretOwner,
  sealed: string | null,
): Promise<Secrets | null> {
  const opened = sealed === null ? null : await openSecret(env, { tenant, ...owner }, sealed)
  // `sealSecrets` wrote this JSON.
  return opened === null ? null : (parseJson(opened.text) as unknown as Secrets)
}

/** Adds a new secret. The previous secret, if there is one, remains valid for OLD_SECRET_MS. */
export function rotateSecrets(before: Secrets | null, now: number): Secrets {
  const old = before === null ? {} : { old: { secret: before.current, until: now + OLD_SECRET_MS } }
  return { current: createWebhookSecret(), ...old }
}

/** Returns the valid secrets, newest first. */
export function listSecrets({ current, old }: Secrets, now: number): readonly string[] {
  return old !== undefined && old.until > now ? [current, old.secret] : [current]
}

/** Returns when the previous secret stops being valid; null if there is none. */
export function oldSecretUntil(secrets: Secrets | null, now: number): number | null {
  const until = secrets?.old?.until ?? 0
  return until > now ? until : null
}
