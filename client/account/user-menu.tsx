/**
 * user-menu.tsx: the user's name at the bottom of the sidebar, and a panel with their role and budgets, links to the
 * settings and the admin page, and sign-out. Source: SPEC SP3.
 */

import { type Signal, useSignal } from "@preact/signals"
import type { RefObject, VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { describeError, RequestError } from "../net/http-request.ts"
import { readUser } from "../net/token-source.ts"
import { Dialog } from "../ui/dialog.tsx"
import { accountText } from "../words/account-text.ts"
import { appText } from "../words/page-text.ts"
import { budgetMeters } from "./deferred-budgets.ts"
import { tokenResponse } from "./token-response.ts"
import { type Identity, mayAdminister, readIdentity } from "./identity.ts"
import { signOut } from "./sign-out.ts"
import { watchUser } from "./watch-user.ts"

export function UserMenu(): VNode | null {
  const isOpen = useSignal(false)
  const isConfirming = useSignal(false)
  const menuRef = useRef<HTMLDivElement>(null)
  useClosing(menuRef, isOpen)
  useEffect(() => watchUser(isSignInByAnotherUser), [])
  if (tokenResponse.value === null) return null
  const identity = readIdentity(tokenResponse.value)
  return (
    <div class="account" ref={menuRef}>
      <button
        type="button"
        class="account-button"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <span class="initial" aria-hidden="true">
          {getInitial(identity.name)}
        </span>
        <span class="visually-hidden">{accountText.account}</span>
        <span class="names">
          <b dir="auto">{identity.name}</b>
          <small dir="auto">{identity.tenant}</small>
        </span>
      </button>
      {isOpen.value && (
        <AccountPanel
          identity={identity}
          onSignOutEverywhere={() => {
            isOpen.value = false
            focusButton(menuRef.current)
            isConfirming.value = true
          }}
        />
      )}
      {isConfirming.value && <SignOutDialog onCancel={() => (isConfirming.value = false)} />}
    </div>
  )
}

/**
 * Whether `user` has signed in and replaces this tab's user. Tabs share the sign-in, so this tab's next token will be
 * the new user's. An embedding product may show the pages of two users at the same time; if each page reloaded because
 * of the other, they would reload forever.
 */
function isSignInByAnotherUser(user: string): boolean {
  const response = tokenResponse.peek()
  return response === null || (readIdentity(response).source === "sign-in" && readUser(response.token) !== user)
}

function focusButton(menu: HTMLElement | null): void {
  menu?.querySelector<HTMLElement>(".account-button")?.focus()
}

/** Returns the first letter or digit, in any script, as a capital. */
function getInitial(name: string): string {
  return (/[\p{L}\p{N}]/u.exec(name)?.[0] ?? "·").toLocaleUpperCase()
}

interface AccountPanelProps {
  readonly identity: Identity
  readonly onSignOutEverywhere: () => void
}

function AccountPanel({ identity, onSignOutEverywhere }: AccountPanelProps): VNode {
  const { isBusy, fault, leave } = useSignOut()
  const Meters = budgetMeters.module.value?.BudgetMeters
  useEffect(() => void budgetMeters.load(), [])
  return (
    <section class="account-panel" aria-label={accountText.account}>
      <dl>
        <dt>{accountText.tenant}</dt>
        <dd dir="auto">{identity.tenant}</dd>
        <dt>{accountText.role}</dt>
        <dd>{accountText.roles[identity.role]}</dd>
        <dt>{accountText.user}</dt>
        <dd>
          <code>{identity.id}</code>
        </dd>
      </dl>
      {Meters !== undefined && <Meters />}
      {location.pathname !== "/admin" && <a href="#/settings">{accountText.settings}</a>}
      {mayAdminister(identity) && location.pathname !== "/admin" && <a href="/admin">{accountText.admin}</a>}
      {identity.source === "sign-in" && (
        <>
          <button type="button" disabled={isBusy} onClick={() => leave(false)}>
            {isBusy ? accountText.signingOut : accountText.signOut}
          </button>
          <button type="button" disabled={isBusy} onClick={onSignOutEverywhere}>
            {accountText.signOutEverywhere}
          </button>
        </>
      )}
      {identity.source === "development" && <p>{accountText.development}</p>}
      {fault !== null && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
    </section>
  )
}

export function SignOutDialog({ onCancel }: { readonly onCancel: () => void }): VNode {
  const { isBusy, fault, leave } = useSignOut()
  return (
    <Dialog title={accountText.confirmTitle} role="alertdialog" onCancel={onCancel}>
      <p>{accountText.confirmText}</p>
      {fault !== null && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      <p class="ways">
        <button type="button" data-first="" onClick={onCancel}>
          {appText.cancel}
        </button>
        <button type="button" class="grave" disabled={isBusy} onClick={() => leave(true)}>
          {isBusy ? accountText.signingOut : accountText.confirm}
        </button>
      </p>
    </Dialog>
  )
}

interface SignOutState {
  readonly isBusy: boolean
  /** Why the sign-out failed; null if it hasn't. */
  readonly fault: string | null
  leave(everywhere: boolean): void
}

function useSignOut(): SignOutState {
  const isBusy = useSignal(false)
  const fault = useSignal<string | null>(null)
  const signOutNow = (everywhere: boolean): void => {
    isBusy.value = true
    fault.value = null
    signOut(everywhere).catch((error: unknown) => {
      isBusy.value = false
      const isSignedOut = error instanceof RequestError && error.status === 401
      fault.value = isSignedOut ? accountText.signedOutAlready : accountText.signOutFailed(describeError(error))
    })
  }
  return { isBusy: isBusy.value, fault: fault.value, leave: signOutNow }
}

/** Closes the panel on Escape, and when the user clicks or moves the focus outside it. */
function useClosing(menuRef: RefObject<HTMLElement | null>, isOpen: Signal<boolean>): void {
  useEffect(() => {
    const closeIfOutside = ({ target }: Event): void => {
      if (target instanceof Node && menuRef.current?.contains(target) !== true) isOpen.value = false
    }
    const closeOnEscape = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || !isOpen.peek()) return
      // Otherwise the page's Escape handler would stop a running answer.
      event.preventDefault()
      event.stopPropagation()
      isOpen.value = false
      focusButton(menuRef.current)
    }
    addEventListener("pointerdown", closeIfOutside, true)
    addEventListener("focusin", closeIfOutside)
    addEventListener("keydown", closeOnEscape, true)
    return () => {
      removeEventListener("pointerdown", closeIfOutside, true)
      removeEventListener("focusin", closeIfOutside)
      removeEventListener("keydown", closeOnEscape, true)
    }
  }, [])
}
