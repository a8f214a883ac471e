/**
 * hostile-tokens.ts: tokens that must be refused. Their author owns the tenant `evil`, has that tenant's token key and
 * valid tokens, and can see any text that the server shows. The author wants to act in the tenant `victim`, or as
 * another user.
 */

import { base64url } from "jose"

/** What the author of the tokens has. */
export interface Loot {
  /** The bytes of evil's token key. */
  readonly key: Uint8Array<ArrayBuffer>
  /** A valid token of eve, a member of evil. */
  readonly token: string
  /** A signed link and an API key of evil. */
  readonly link: string
  readonly apiKey: string
  /** The current time, in seconds since 1970. */
  readonly now: number
}

type Json = string | object

const encodeJson = (value: Json): string => base64url.encode(typeof value === "string" ? value : JSON.stringify(value))

async function signData(key: Uint8Array<ArrayBuffer>, data: string, hash = "SHA-256"): Promise<string> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash }, false, ["sign"])
  return base64url.encode(new Uint8Array(await crypto.subtle.sign("HMAC", imported, new TextEncoder().encode(data))))
}

/** Returns a JWT with any header and payload, given as values or as JSON text, signed with evil's key. */
export async function forgeToken(
  { key }: Pick<Loot, "key">,
  header: Json,
  payload: Json,
  hash?: string,
): Promise<string> {
  const data = `${encodeJson(header)}.${encodeJson(payload)}`
  return `${data}.${await signData(key, data, hash)}`
}

const VICTIM = { tenant: "victim", sub: "ada", exp: 4_000_000_000 }
const EVIL = { tenant: "evil", sub: "eve", exp: 4_000_000_000 }
const HEADER = { alg: "HS256", kid: "cuecard:evil:1" }

type Make = (loot: Loot) => string | Promise<string>

/**
 * Pairs of a description and a function that makes the token. The server must refuse all these tokens without calling
 * an object or fetching anything.
 */
export const UNVERIFIED_TOKENS: readonly (readonly [string, Make])[] = [
  // The algorithm.
  ...["none", "None", "NONE", "nOnE", ""].map(
    (alg) => [`alg ${alg}, without a signature`, () => `${encodeJson({ alg })}.${encodeJson(VICTIM)}.`] as const,
  ),
  ["alg none, with evil's signature", (loot) => forgeToken(loot, { ...HEADER, alg: "none" }, VICTIM)],
  ["no alg", (loot) => forgeToken(loot, { kid: HEADER.kid }, VICTIM)],
  ["a list of algs", (loot) => forgeToken(loot, { ...HEADER, alg: ["HS256"] }, VICTIM)],
  ["alg HS256 in lower case", (loot) => forgeToken(loot, { ...HEADER, alg: "hs256" }, VICTIM)],
  ["HS384 with evil's key", (loot) => forgeToken(loot, { ...HEADER, alg: "HS384" }, EVIL, "SHA-384")],
  ["HS512 with evil's key", (loot) => forgeToken(loot, { ...HEADER, alg: "HS512" }, EVIL, "SHA-512")],
  ["alg RS256 over an HMAC", (loot) => forgeToken(loot, { ...HEADER, alg: "RS256" }, EVIL)],
  [
    "alg ES256 with an empty signature",
    (loot) => `${encodeJson({ ...HEADER, alg: "ES256" })}.${encodeJson(EVIL)}.${loot.token.slice(0, 0)}`,
  ],
  ["alg dir, as in an encrypted token", (loot) => forgeToken(loot, { ...HEADER, alg: "dir", enc: "A256GCM" }, EVIL)],

  // The key's name.
  ["victim's tenant under evil's kid", (loot) => forgeToken(loot, HEADER, VICTIM)],
  ["victim's kid with evil's key", (loot) => forgeToken(loot, { ...HEADER, kid: "cuecard:victim:1" }, VICTIM)],
  ["evil's tenant under victim's kid", (loot) => forgeToken(loot, { ...HEADER, kid: "cuecard:victim:1" }, EVIL)],
  ["no kid, with evil's key", (loot) => forgeToken(loot, { alg: "HS256" }, VICTIM)],
  ["an empty kid", (loot) => forgeToken(loot, { ...HEADER, kid: "" }, VICTIM)],
  ...[
    "cuecard:evil:0",
    "cuecard:evil:-1",
    "cuecard:evil:01",
    "cuecard:evil:1.0",
    "cuecard:evil:1e0",
    "cuecard:evil:+1",
    "cuecard:evil: 1",
    "cuecard:evil:1 ",
    "cuecard:evil:1\n",
    "cuecard:evil:999999999",
    "cuecard:evil:99999999999999999999",
    "cuecard:evil:NaN",
    "cuecard:evil:１",
    "cuecard:evil:",
    "cuecard:evil",
    "cuecard::1",
    "cuecard:evil:1:1",
    "cuecard:victim:evil:1",
    "cuecard:../evil:1",
    "cuecard:evil/../victim:1",
    "cuecard:evil%3A1:1",
    "cuecard:eu.evil:1",
    "cuecard:xx.evil:1",
    "cuecard:EVIL:1",
    "cuecard:еvil:1",
    "CUECARD:evil:1",
    "evil:1",
    "evil.1",
    "/dev/null",
    "../../../../dev/null",
    "' OR 1=1 --",
    `cuecard:${"e".repeat(5_000)}:1`,
    "__proto__",
    "cuecard:__proto__:1",
  ].map(
    (kid) =>
      [`kid ${JSON.stringify(kid).slice(0, 60)}`, (loot: Loot) => forgeToken(loot, { ...HEADER, kid }, EVIL)] as const,
  ),
  ...[1, null, true, ["cuecard:evil:1"], { tenant: "evil" }].map(
    (kid) =>
      [
        `kid ${JSON.stringify(kid)}, which is not a string`,
        (loot: Loot) => forgeToken(loot, { ...HEADER, kid }, EVIL),
      ] as const,
  ),
  [
    "two kids, the last one victim's",
    (loot) => forgeToken(loot, '{"alg":"HS256","kid":"cuecard:evil:1","kid":"cuecard:victim:1"}', VICTIM),
  ],
  [
    "two kids, the last one evil's",
    (loot) => forgeToken(loot, '{"alg":"HS256","kid":"cuecard:victim:1","kid":"cuecard:evil:1"}', VICTIM),
  ],
  [
    "two algs, the last one none",
    (loot) => forgeToken(loot, '{"alg":"HS256","kid":"cuecard:evil:1","alg":"none"}', EVIL),
  ],

  // Keys inside the token.
  ...(["jku", "x5u"] as const).map(
    (name) =>
      [
        `a key at a URL (${name})`,
        (loot: Loot) =>
          forgeToken(loot, { ...HEADER, kid: "cuecard:victim:1", [name]: "https://evil.example/keys" }, VICTIM),
      ] as const,
  ),
  [
    "an embedded key (jwk)",
    (loot) => forgeToken(loot, { alg: "HS256", jwk: { kty: "oct", k: base64url.encode(loot.key) } }, VICTIM),
  ],
  ["an embedded certificate (x5c)", (loot) => forgeToken(loot, { alg: "HS256", x5c: ["MIIB"] }, VICTIM)],

  // Other headers.
  ["another typ", (loot) => forgeToken(loot, { ...HEADER, typ: "at+jwt" }, EVIL)],
  ["typ JWT, which the server doesn't write", (loot) => forgeToken(loot, { ...HEADER, typ: "JWT" }, EVIL)],
  ["an unknown critical header", (loot) => forgeToken(loot, { ...HEADER, crit: ["exp"], exp: 1 }, EVIL)],
  ["an unencoded payload", (loot) => forgeToken(loot, { ...HEADER, b64: false, crit: ["b64"] }, EVIL)],

  // The claims, under evil's own key.
  [
    "two tenants, the last one victim",
    (loot) => forgeToken(loot, HEADER, '{"tenant":"evil","tenant":"victim","sub":"ada","exp":4000000000}'),
  ],
  ["a list of tenants", (loot) => forgeToken(loot, HEADER, { ...EVIL, tenant: ["evil", "victim"] })],
  ["a tenant with a region", (loot) => forgeToken(loot, HEADER, { ...EVIL, tenant: "eu.evil" })],
  ["a tenant in a different case", (loot) => forgeToken(loot, HEADER, { ...EVIL, tenant: "Evil" })],
  ["a tenant with a space", (loot) => forgeToken(loot, HEADER, { ...EVIL, tenant: "evil " })],
  ["no tenant", (loot) => forgeToken(loot, HEADER, { sub: "eve", exp: EVIL.exp })],
  ["the user of an API key", (loot) => forgeToken(loot, HEADER, { ...EVIL, sub: "key:abc" })],
  ["another tenant's user", (loot) => forgeToken(loot, HEADER, { ...EVIL, sub: "victim:ada" })],
  ["a path instead of a user", (loot) => forgeToken(loot, HEADER, { ...EVIL, sub: "../ada" })],
  ["a look-alike user", (loot) => forgeToken(loot, HEADER, { ...EVIL, sub: "аda" })],
  ["a user of 10,000 characters", (loot) => forgeToken(loot, HEADER, { ...EVIL, sub: "a".repeat(10_000) })],
  ["an unknown role", (loot) => forgeToken(loot, HEADER, { ...EVIL, role: "operator" })],
  ["a list of roles", (loot) => forgeToken(loot, HEADER, { ...EVIL, role: ["owner"] })],
  ["an unknown scope", (loot) => forgeToken(loot, HEADER, { ...EVIL, scope: "operator" })],
  ["scope external without a session", (loot) => forgeToken(loot, HEADER, { ...EVIL, scope: "external" })],
  ["a session with a colon", (loot) => forgeToken(loot, HEADER, { ...EVIL, scope: "external", session: "a:b" })],
  ["a start in the future", (loot) => forgeToken(loot, HEADER, { ...EVIL, nbf: loot.now + 60 })],
  ["a start that is not a number", (loot) => forgeToken(loot, HEADER, { ...EVIL, nbf: "0" })],
  ["a time of issue in the future", (loot) => forgeToken(loot, HEADER, { ...EVIL, iat: loot.now + 60 })],
  ["an expiry in the past", (loot) => forgeToken(loot, HEADER, { ...EVIL, exp: loot.now - 60 })],
  [
    "two expiries, the last one in the past",
    (loot) => forgeToken(loot, HEADER, `{"tenant":"evil","sub":"eve","exp":4000000000,"exp":${loot.now - 60}}`),
  ],
  ["no expiry", (loot) => forgeToken(loot, HEADER, { tenant: "evil", sub: "eve" })],
  ["an expiry that is not a number", (loot) => forgeToken(loot, HEADER, { ...EVIL, exp: "4000000000" })],
  ["an infinite expiry", (loot) => forgeToken(loot, HEADER, '{"tenant":"evil","sub":"eve","exp":1e999}')],
  ["a payload that is not an object", (loot) => forgeToken(loot, HEADER, "[]")],
  ["a payload that is not JSON", (loot) => forgeToken(loot, HEADER, "{")],
  [
    "claims in a prototype",
    (loot) => forgeToken(loot, HEADER, '{"__proto__":{"tenant":"evil","sub":"eve","exp":4000000000}}'),
  ],

  // The encoding.
  ["a changed payload", ({ token }) => swapPart(token, 1, encodeJson({ ...EVIL, role: "owner" }))],
  ["a changed header", ({ token }) => swapPart(token, 0, encodeJson({ ...HEADER, kid: "cuecard:victim:1" }))],
  ["a signature without its last character", ({ token }) => token.slice(0, -1)],
  ["no signature", ({ token }) => token.slice(0, token.lastIndexOf(".") + 1)],
  ["two parts", ({ token }) => token.slice(0, token.lastIndexOf("."))],
  ["four parts", ({ token }) => `${token}.${token.split(".")[2]}`],
  ["five parts, as in an encrypted token", ({ token }) => `${token}..`],
  ["base64 with padding", ({ token }) => swapPart(token, 0, `${token.split(".")[0]}==`)],
  ["a header that is not base64", ({ token }) => swapPart(token, 0, "%%%")],
  [
    "a deeply nested header",
    (loot) => forgeToken(loot, `{"alg":"HS256","kid":${"[".repeat(2_000)}${"]".repeat(2_000)}}`, EVIL),
  ],
  ["two tokens, separated by a comma", ({ token }) => `${token},${token}`],
  ["a signed link", ({ link }) => link],
  ["an API key without its prefix", ({ apiKey }) => apiKey.slice(3)],
  ["100,000 characters", (loot) => forgeToken(loot, HEADER, { ...EVIL, more: "x".repeat(100_000) })],
  ["only dots", () => ".".repeat(1_000)],
]

function swapPart(token: string, index: number, part: string): string {
  return token
    .split(".")
    .map((old, at) => (at === index ? part : old))
    .join(".")
}
