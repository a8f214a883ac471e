/**
 * admin-page.tsx: the admin page: its header, its sections, and what is shown instead of them while loading, after an
 * error, or to a user who is not an administrator. Source: SPEC AD1.
 *
 * The URL hash names the section, so that the browser's back and forward buttons work.
 */

import { type ReadonlySignal, useSignal, useSignalEffect } from "@preact/signals"
import type { ComponentType, VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { userMenu } from "../account/deferred-account.ts"
import type { RequestHold } from "../net/request-hold.ts"
import { Logo } from "../ui/logo.tsx"
import { cycleTheme, theme } from "../ui/preferences/theme.ts"
import { adminText } from "../words/admin-text.ts"
import { appText, formatDocumentTitle } from "../words/page-text.ts"
import type { Identity } from "../account/identity.ts"
import type { AdminApi } from "./admin-api.ts"
import { type AdminContext, notice } from "./admin-state.ts"
import { AgentsSection } from "./agents-section.tsx"
import { AuditSection } from "./audit-section.tsx"
import { BudgetsSection } from "./budgets/budgets-section.tsx"
import { FaultText } from "./form-fields.tsx"
import { IssuersSection } from "./issuers/issuers-section.tsx"
import { KeysSection } from "./keys/keys-section.tsx"
import { deferSection } from "./deferred-section.tsx"
import { DeferredPrices } from "./prices/deferred-prices.tsx"
import { SettingsSection } from "./settings-section.tsx"
import { TenantSection } from "./tenant/tenant-section.tsx"
import { UsageSection } from "./usage/usage-section.tsx"
import { UsersSection } from "./users-section.tsx"
import { useKeptFocus } from "./use-kept-focus.ts"

type SectionName = keyof typeof adminText.section

const SECTIONS: Readonly<Record<SectionName, ComponentType<AdminContext>>> = {
  users: UsersSection,
  keys: KeysSection,
  issuers: IssuersSection,
  agents: AgentsSection,
  models: deferSection(() => import("./models/models-section.tsx")),
  tools: deferSection(() => import("./tools/tools-section.tsx")),
  servers: deferSection(() => import("./servers/servers-section.tsx")),
  cards: deferSection(() => import("./cards/cards-section.tsx")),
  feedback: deferSection(() => import("./feedback/feedback-section.tsx")),
  usage: UsageSection,
  prices: DeferredPrices,
  budgets: BudgetsSection,
  settings: SettingsSection,
  theme: deferSection(() => import("./theme/theme-section.tsx")),
  audit: AuditSection,
  tenant: TenantSection,
}

const SECTION_NAMES = Object.keys(SECTIONS) as SectionName[]

/** How long a notice is shown, in milliseconds. */
const NOTICE_DURATION_MS = 6_000

interface AdminPageProps {
  readonly api: AdminApi
  /** Null until the user is known. */
  readonly identity: ReadonlySignal<Identity | null>
  /** Why the user could not be identified; null if there was no error. */
  readonly fault: ReadonlySignal<string | null>
}

export function AdminPage({ api, identity, fault }: AdminPageProps): VNode {
  const section = useSection()
  const mainRef = useRef<HTMLElement>(null)
  const headingRef = useRef<HTMLHeadingElement>(null)
  useKeptFocus(headingRef)
  const user = identity.value
  const isAdmitted = user?.role === "owner" || user?.role === "admin"
  useEffect(() => {
    document.title = formatDocumentTitle(`${adminText.section[section]} · ${adminText.title}`)
  }, [section])
  const Section = SECTIONS[section]
  const LoadedUserMenu = userMenu.module.value?.UserMenu
  return (
    <div class="admin">
      <header>
        <button type="button" class="skip" onClick={() => mainRef.current?.focus()}>
          {adminText.skip}
        </button>
        <p class="brand">
          <Logo /> {appText.name} <span class="muted">{adminText.title}</span>
        </p>
        <a href="/">{adminText.backToChat}</a>
        <button type="button" class="theme" onClick={cycleTheme}>
          {adminText.theme} <span>{adminText.themes[theme.value]}</span>
        </button>
        <div class="account-slot">{LoadedUserMenu !== undefined && <LoadedUserMenu />}</div>
      </header>
      {isAdmitted && <SectionList current={section} />}
      <main ref={mainRef} tabIndex={-1}>
        {isAdmitted ? (
          <>
            <h1 ref={headingRef} tabIndex={-1}>
              {adminText.section[section]}
            </h1>
            <Section key={section} api={api} identity={user} />
          </>
        ) : (
          <Refusal isKnown={user !== null} fault={fault.value} />
        )}
      </main>
      <Notice hold={api.hold} />
    </div>
  )
}

function SectionList({ current }: { readonly current: SectionName }): VNode {
  const listRef = useRef<HTMLUListElement>(null)
  // On a phone, the list scrolls sideways, so the current section may be out of view.
  useEffect(() => {
    listRef.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [current])
  return (
    <nav aria-label={adminText.sections}>
      <ul ref={listRef}>
        {SECTION_NAMES.map((name) => (
          <li key={name}>
            <a href={`#${name}`} aria-current={name === current ? "page" : undefined}>
              {adminText.section[name]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

interface RefusalProps {
  readonly isKnown: boolean
  readonly fault: string | null
}

function Refusal({ isKnown, fault }: RefusalProps): VNode {
  if (isKnown)
    return (
      <>
        <h1>{adminText.deniedTitle}</h1>
        <p class="lead">{adminText.deniedText}</p>
        <p>
          <a class="firm" href="/">
            {adminText.backToChat}
          </a>
        </p>
      </>
    )
  if (fault === null) return <p class="pending">{adminText.loading}</p>
  return (
    <>
      <h1>{adminText.failedTitle}</h1>
      <FaultText text={fault} />
      <p>
        <button type="button" class="firm" onClick={() => location.reload()}>
          {adminText.retry}
        </button>
      </p>
    </>
  )
}

function Notice({ hold }: { readonly hold: RequestHold }): VNode {
  useSignalEffect(() => {
    if (notice.value === "") return undefined
    const timer = setTimeout(() => (notice.value = ""), NOTICE_DURATION_MS)
    return () => clearTimeout(timer)
  })
  // While the page is waiting because of a rate limit, the notice says so instead.
  const text = hold.text.value || notice.value
  return (
    <div class="notice" role="status">
      {text !== "" && <p dir="auto">{text}</p>}
    </div>
  )
}

/** Returns the section named in the URL hash, and re-renders when the hash changes. */
function useSection(): SectionName {
  const section = useSignal(parseSection(location.hash))
  useEffect(() => {
    const updateSection = (): void => {
      section.value = parseSection(location.hash)
      notice.value = ""
    }
    addEventListener("hashchange", updateSection)
    return () => removeEventListener("hashchange", updateSection)
  }, [])
  return section.value
}

function parseSection(hash: string): SectionName {
  const [named] = hash.split("?")
  return SECTION_NAMES.find((name) => `#${name}` === named) ?? "users"
}
