/**
 * math-view.tsx: a formula, shown as it was written until the typesetter is loaded. SPEC MD9, MD12.
 */

import { type ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { mathTypesetter } from "./deferred-tools.ts"
import { renderLongText } from "../long-text.tsx"

export function MathView({ source }: { readonly source: string }): ComponentChildren {
  useEffect(() => void mathTypesetter.load(), [])
  const typesetter = mathTypesetter.module.value
  return typesetter === null ? renderLongText(source) : <typesetter.Formula source={source} />
}
