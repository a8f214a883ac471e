/** prose-link.tsx: a link in an answer. SPEC SC4. */

import type { ComponentChildren, VNode } from "preact"
import { useContext } from "preact/hooks"
import { sourceViews } from "./deferred-sources.ts"
import { SourcesContext } from "./source-numbers.ts"

export interface LinkProps {
  readonly href: string
  readonly children?: ComponentChildren
}

export function ProseLink({ href, children }: LinkProps): VNode {
  const source = useContext(SourcesContext).get(href)
  const views = source === undefined ? null : sourceViews.module.value
  if (source !== undefined && views !== null)
    return (
      <views.SourceLink href={href} source={source}>
        {children}
      </views.SourceLink>
    )
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}
