/**
 * seal-secret.ts: encrypts secrets that the server must be able to read again: keys of models, tools and MCP servers.
 *
 * secret + location → SEAL → `s1.<key id>.<base64url>` → OPEN → secret
 * The key (AES-GCM, 256 bits) is derived with HKDF from a secret of the deployment, the tenant and the purpose. The
 * location is authenticated, so a sealed value that is moved to another tenant, purpose or name can't be opened.
 * Source: SPEC SL1-SL3.
 */

import { base64url } from "jose"
import { splitCommaList } from "../comma-list.ts"
import { bytesToHex } from "./hex.ts"

/** The secrets from which keys are derived. */
export interface SealEnv {
  readonly JWT_SECRET?: string
  /** Secrets, comma-separated, newest first. Without them, JWT_SECRET is used. */
  readonly SEALING_SECRETS?: string
}

/** Where a sealed secret is stored. */
export interface SecretLocation {
  readonly tenant: string
  /** What the secret is for: `model key`, `webhook secret`. */
  readonly purpose: string
  /** Distinguishes the secrets of one purpose: for example, the name of a model. */
  readonly name: string
}

export interface OpenedSecret {
  readonly text: string
  /** Whether the value was sealed with the newest secret. If not, the caller seals it again on its next write. */
  readonly isCurrent: boolean
}

/** Maximum length of a secret, in characters. Some providers' access tokens have several thousand. */
export const MAX_SECRET_CHARS = 16_384

const VERSION = "s1"
const IV_BYTES = 12
/** Enough digits to distinguish the few secrets of a deployment. */
const KEY_ID_BYTES = 8

/**
 * Seals a secret. Sealing the same secret twice gives two different values. Throws if the secret is longer than
 * MAX_SECRET_CHARS.
 */
export async function sealSecret(env: SealEnv, location: SecretLocation, text: string): Promise<string> {
  if (text.length > MAX_SECRET_CHARS) throw new RangeError("secret too long")
  const [master] = listMasters(env)
  if (master === undefined) throw new Error("no secret to seal with")
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const keyId = await deriveKeyId(master)
  const algorithm = { name: "AES-GCM", iv, additionalData: formatLocation(keyId, location) }
  const data = await crypto.subtle.encrypt(algorithm, await deriveSealKey(master, location), encodeText(text))
  return `${VERSION}.${keyId}.${base64url.encode(new Uint8Array([...iv, ...new Uint8Array(data)]))}`
}

/**
 * Opens a sealed secret. Returns null if the value was changed or was sealed for another location, or if the deployment
 * no longer has the secret that sealed it.
 */
export async function openSecret(env: SealEnv, location: SecretLocation, sealed: string): Promise<OpenedSecret | null> {
  const [version, keyId = "", data = "", ...rest] = sealed.split(".")
  if (version !== VERSION || rest.length > 0) return null
  for (const [i, master] of listMasters(env).entries()) {
    if ((await deriveKeyId(master)) !== keyId) continue
    const text = await decrypt(master, keyId, location, data)
    return text === null ? null : { text, isCurrent: i === 0 }
  }
  return null
}

async function decrypt(master: string, keyId: string, location: SecretLocation, data: string): Promise<string | null> {
  try {
    const bytes = base64url.decode(data)
    const algorithm = {
      name: "AES-GCM",
      iv: bytes.subarray(0, IV_BYTES),
      additionalData: formatLocation(keyId, location),
    }
    const key = await deriveSealKey(master, location)
    return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, bytes.subarray(IV_BYTES)))
  } catch {
    return null
  }
}

/**
 * Returns the deployment's secrets, newest first. JWT_SECRET comes last, because it sealed everything before
 * SEALING_SECRETS was set.
 */
function listMasters({ SEALING_SECRETS, JWT_SECRET }: SealEnv): string[] {
  return [...splitCommaList(SEALING_SECRETS), ...(JWT_SECRET === undefined ? [] : [JWT_SECRET])]
}

async function importMaster(master: string): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", encodeText(master), "HKDF", false, ["deriveKey", "deriveBits"])
}

/** Returns a public id for a secret, which reveals nothing about the secret. */
async function deriveKeyId(master: string): Promise<string> {
  const algorithm = createHkdf("cuecard seal key id")
  return bytesToHex(await crypto.subtle.deriveBits(algorithm, await importMaster(master), KEY_ID_BYTES * 8))
}

async function deriveSealKey(master: string, { tenant, purpose }: SecretLocation): Promise<CryptoKey> {
  const algorithm = createHkdf(JSON.stringify(["cuecard seal", tenant, purpose]))
  const use = ["encrypt", "decrypt"]
  return await crypto.subtle.deriveKey(
    algorithm,
    await importMaster(master),
    { name: "AES-GCM", length: 256 },
    false,
    use,
  )
}

/** Uses no salt, because the deployment's secrets are random and the same key must be derived again later. */
function createHkdf(info: string) {
  return { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: encodeText(info) }
}

/** Formats a location as JSON, so that no two locations result in the same string. */
function formatLocation(keyId: string, { tenant, purpose, name }: SecretLocation): Uint8Array<ArrayBuffer> {
  return encodeText(JSON.stringify([VERSION, keyId, tenant, purpose, name]))
}

function encodeText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
}
