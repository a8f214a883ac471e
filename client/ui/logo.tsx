/** logo.tsx: the tenant's logo or, if there is none, the product's, which is a card with a cue. */

import type { VNode } from "preact"
import { logoUrl } from "../words/tenant-look.ts"

export function Logo(): VNode {
  if (logoUrl.value !== null) return <img class="mark" src={logoUrl.value} alt="" />
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect x="4.5" y="8" width="23" height="17" rx="4.5" />
      <path d="M10 14h8" />
      <path class="cue" d="M10 19.5h12" />
    </svg>
  )
}
