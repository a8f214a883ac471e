/** view-icon.tsx: a card's icon. It repeats what the text says, so it is hidden from screen readers. */

import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import type { IconName } from "../../../shared/card/view/icon-name.ts"
import { deferModule } from "../../ui/deferred-module.ts"

export const iconPaths = deferModule(() => import("./icon-paths.ts"))

/** The icon's size is set before the paths are loaded, so that nothing moves. */
export function ViewIcon({ name }: { readonly name: IconName }): VNode {
  useEffect(() => void iconPaths.load(), [])
  return (
    <svg class="view-icon" data-icon={name} viewBox="0 0 24 24" aria-hidden="true">
      <path d={iconPaths.module.value?.ICON_PATHS[name]} />
    </svg>
  )
}
