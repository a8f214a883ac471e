/**
 * issuer-form.tsx: the form for an identity provider. When it is saved, the server fetches the provider's configuration
 * and keys. The form stays open until that succeeds. Source: SPEC AD4.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { ROLE_NAMES, type RoleName } from "../../account/identity.ts"
import { RequestError } from "../../net/http-request.ts"
import { CopyButton } from "../../ui/copy-button.tsx"
import { adminText, issuersText } from "../../words/admin-text.ts"
import { pathOf } from "../admin-api.ts"
import type { Issuer } from "../admin-responses.ts"
import { type AdminContext, notice } from "../admin-state.ts"
import { FormDialog } from "../confirm-dialog.tsx"
import { CheckList, roleTexts, TextField } from "../form-fields.tsx"

export const ISSUERS_PATH = "/v1/issuers"

/** Algorithms that the server accepts, the most common ones first. */
const ALGORITHMS = [
  "RS256",
  "PS256",
  "ES256",
  "EdDSA",
  "Ed25519",
  "RS384",
  "RS512",
  "PS384",
  "PS512",
  "ES384",
  "ES512",
] as const
const DEFAULT_ALGORITHMS: readonly string[] = ["RS256", "PS256", "ES256", "EdDSA"]
const DEFAULT_ROLES: readonly RoleName[] = ["admin", "member", "viewer"]

/**
 * The entered values. Empty fields aren't sent, except `required_claims` and `authorized_parties`, which are sent as an
 * empty object and list.
 */
interface IssuerEntry {
  readonly name: string
  readonly label: string
  readonly issuer: string
  readonly audience: string
  readonly client_id: string
  readonly client_secret: string
  readonly user_claim: string
  readonly name_claim: string
  readonly role_claim: string
  readonly jwks_uri: string
  readonly scopes: string
  /** One claim and value per line. */
  readonly required_claims: string
  /** One party per line. */
  readonly authorized_parties: string
  readonly roles: readonly RoleName[]
  readonly algorithms: readonly string[]
  readonly logout: boolean
}

function toEntry(issuer: Issuer | null): IssuerEntry {
  return {
    name: issuer?.name ?? "",
    label: issuer?.label ?? "",
    issuer: issuer?.issuer ?? "",
    audience: issuer?.audience ?? "",
    client_id: issuer?.client_id ?? "",
    client_secret: "",
    user_claim: issuer?.user_claim ?? "sub",
    name_claim: issuer?.name_claim ?? "name",
    role_claim: issuer?.role_claim ?? "",
    jwks_uri: issuer?.jwks_uri ?? "",
    scopes: issuer?.scopes ?? "openid profile email",
    required_claims: formatClaims(issuer?.required_claims ?? {}),
    authorized_parties: (issuer?.authorized_parties ?? []).join("\n"),
    roles: issuer?.roles ?? DEFAULT_ROLES,
    algorithms: issuer?.algorithms ?? DEFAULT_ALGORITHMS,
    logout: issuer?.logout ?? false,
  }
}

function toBody({ name: _name, required_claims, authorized_parties, ...entry }: IssuerEntry): object {
  const set = Object.entries(entry)
    .map(([field, value]) => [field, typeof value === "string" ? value.trim() : value] as const)
    .filter(([, value]) => value !== "")
  return {
    ...Object.fromEntries(set),
    required_claims: parseClaims(required_claims),
    authorized_parties: splitLines(authorized_parties),
  }
}

function splitLines(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]))
}

/** Formats claims as lines such as `hd=example.com`. A claim with several allowed values has a line for each. */
export function formatClaims(claims: Issuer["required_claims"]): string {
  const lines = Object.entries(claims).flatMap(([name, wanted]) => [wanted].flat().map((value) => `${name}=${value}`))
  return lines.join("\n")
}

/**
 * Parses lines such as `hd=example.com`. Throws RequestError, with a message for the user, if a line isn't
 * `claim=value`.
 */
export function parseClaims(text: string): Readonly<Record<string, readonly string[]>> {
  const claims = new Map<string, string[]>()
  for (const line of splitLines(text)) {
    const [, name = "", value = ""] = /^([^=]+?)\s*=\s*(.+)$/.exec(line) ?? []
    if (name === "") throw new RequestError(400, issuersText.claimInvalid(line))
    claims.set(name, [...(claims.get(name) ?? []), value])
  }
  return Object.fromEntries(claims)
}

interface IssuerFormProps extends AdminContext {
  /** Null for a new provider. */
  readonly issuer: Issuer | null
  readonly onSaved: () => void
  readonly onClose: () => void
}

export function IssuerForm({ api, identity, issuer, onSaved, onClose }: IssuerFormProps): VNode {
  const entry = useSignal(toEntry(issuer))
  const fieldOf = (field: Exclude<keyof IssuerEntry, "roles" | "algorithms" | "logout">) => ({
    value: entry.value[field],
    onChange: (value: string): void => {
      entry.value = { ...entry.peek(), [field]: value }
    },
  })
  const hasSecret = issuer?.has_client_secret === true
  return (
    <FormDialog
      title={issuer === null ? issuersText.addTitle : issuersText.editTitle(issuer.name)}
      submit={issuersText.check}
      submitting={issuersText.checking}
      onClose={onClose}
      onSubmit={async () => {
        const name = entry.peek().name.trim()
        await api.sendAction("PUT", pathOf(ISSUERS_PATH, name), toBody(entry.peek()))
        notice.value = issuersText.checked(name)
        onSaved()
      }}
    >
      {issuer === null && (
        <TextField label={issuersText.name} hint={issuersText.nameHint} {...fieldOf("name")} isRequired isFirst />
      )}
      <TextField label={issuersText.label} hint={issuersText.labelHint} {...fieldOf("label")} />
      <TextField
        label={issuersText.issuer}
        hint={issuersText.issuerHint}
        {...fieldOf("issuer")}
        type="url"
        isRequired
      />
      <TextField label={issuersText.audience} hint={issuersText.audienceHint} {...fieldOf("audience")} isRequired />
      <TextField label={issuersText.clientId} hint={issuersText.clientIdHint} {...fieldOf("client_id")} />
      <TextField
        label={issuersText.clientSecret}
        hint={hasSecret ? issuersText.secretStored : issuersText.secretHint}
        {...fieldOf("client_secret")}
        type="password"
      />
      <CallbackAddress name={entry.value.name.trim()} />
      <AdvancedFields
        entry={entry.value}
        fieldOf={fieldOf}
        canGrantOwner={identity.role === "owner"}
        onChange={(change) => (entry.value = { ...entry.peek(), ...change })}
      />
    </FormDialog>
  )
}

/** The callback URL, which the administrator registers with the provider. */
function CallbackAddress({ name }: { readonly name: string }): VNode {
  const address = `${location.origin}/auth/callback/${name}`
  return (
    <div class="field with-button">
      <TextField label={issuersText.callback} value={address} onChange={() => {}} type="url" isReadOnly />
      <CopyButton
        getText={() => address}
        label={issuersText.copyCallback}
        text={adminText.copy}
        doneText={adminText.copied}
      />
    </div>
  )
}

interface AdvancedFieldsProps {
  readonly entry: IssuerEntry
  readonly fieldOf: (field: Exclude<keyof IssuerEntry, "roles" | "algorithms" | "logout">) => {
    readonly value: string
    readonly onChange: (value: string) => void
  }
  readonly canGrantOwner: boolean
  readonly onChange: (change: Partial<IssuerEntry>) => void
}

function AdvancedFields({ entry, fieldOf, canGrantOwner, onChange }: AdvancedFieldsProps): VNode {
  const roles = ROLE_NAMES.filter((role) => role !== "owner" || canGrantOwner || entry.roles.includes(role))
  return (
    <details>
      <summary>{issuersText.advanced}</summary>
      <TextField label={issuersText.userClaim} {...fieldOf("user_claim")} />
      <TextField label={issuersText.nameClaim} {...fieldOf("name_claim")} />
      <TextField label={issuersText.roleClaim} hint={issuersText.roleClaimHint} {...fieldOf("role_claim")} />
      <CheckList
        label={issuersText.roles}
        options={roles}
        texts={roleTexts(roles)}
        value={entry.roles}
        onChange={(value) => onChange({ roles: value })}
      />
      <TextField
        label={issuersText.requiredClaims}
        hint={issuersText.requiredClaimsHint}
        {...fieldOf("required_claims")}
        rows={2}
      />
      <TextField
        label={issuersText.parties}
        hint={issuersText.partiesHint}
        {...fieldOf("authorized_parties")}
        rows={2}
      />
      <TextField label={issuersText.scopes} hint={issuersText.scopesHint} {...fieldOf("scopes")} />
      <CheckList
        label={issuersText.signOut}
        options={["logout"]}
        texts={{ logout: issuersText.logout }}
        value={entry.logout ? ["logout"] : []}
        onChange={(value) => onChange({ logout: value.length > 0 })}
      />
      <TextField label={issuersText.jwksUri} hint={issuersText.jwksHint} {...fieldOf("jwks_uri")} type="url" />
      <CheckList
        label={issuersText.algorithms}
        options={ALGORITHMS}
        value={ALGORITHMS.filter((name) => entry.algorithms.includes(name))}
        onChange={(value) => onChange({ algorithms: value })}
      />
    </details>
  )
}
