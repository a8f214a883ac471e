/** account-text.ts: the strings of the sign-in screen and the user menu. Pure. */

import type { SignInError } from "../../shared/protocol/sign-in.ts"
import { translate } from "./languages/language.ts"

export const accountText = translate("account", {
  account: "Account",
  tenant: "Organization",
  role: "Role",
  roles: { owner: "Owner", admin: "Admin", member: "Member", viewer: "Viewer" },
  user: "User ID",
  development: "Development sign-in",
  settings: "Settings",
  admin: "Admin settings",
  signOut: "Sign out",
  signOutEverywhere: "Sign out everywhere…",
  confirmTitle: "Sign out everywhere?",
  confirmText:
    "You'll be signed out in every browser and on every device where you use this account, including this one.",
  confirm: "Sign out everywhere",
  signingOut: "Signing out…",
  signedOutAlready:
    "You were already signed out here, so your other devices are still signed in. Sign in again to sign out everywhere.",
  signOutFailed: (reason: string) => `You're still signed in. ${reason}`,
})

export const signInText = translate("signIn", {
  title: "Sign in",
  lead: "Sign in to continue.",
  leadFor: (tenant: string) => `Sign in to ${tenant} to continue.`,
  continueWith: (provider: string) => `Continue with ${provider}`,
  loading: "Loading sign-in options…",
  none: "Signing in isn't set up here yet. Ask the operator of this service to add a sign-in provider.",
  unreachable: "We couldn't load the sign-in options. Check your connection and try again.",
  retry: "Try again",
  draftsKept: "What you were writing is kept in this browser, and will be there when you're back.",
})

/** The messages for failed sign-ins, by error code. */
export const signInErrorText = translate("signInError", {
  consent_denied: "You cancelled the sign-in, or your provider didn't allow it. You can try again.",
  state_invalid: "That sign-in took too long, was already used, or was started in another browser. Please start again.",
  provider_unknown: "This sign-in option isn't available any more. Choose another one.",
  provider_unreachable: "We couldn't reach your sign-in provider. Wait a moment and try again.",
  provider_failed:
    "Your sign-in provider reported a problem. Try again, and if it happens again, tell your administrator.",
  identity_invalid: "Your provider's response couldn't be verified, so you're not signed in. Tell your administrator.",
  clock_skewed: "The clocks of your provider and our server differ too much. Tell your administrator.",
  user_suspended: "Your account is suspended. Contact your organization's administrator.",
  user_erased: "Your account is being erased. You can sign in again when that has finished.",
  attempts_limited: "Too many sign-ins from your network have failed. Wait a minute and try again.",
  internal: "Something went wrong on our side, and you're not signed in. Please try again.",
} satisfies Record<SignInError, string>)
