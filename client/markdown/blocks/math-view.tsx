/**
 * math-view.tsx: a formula, shown as it was written until the typesetter is loaded. SPEC MD9, MD12.
 */

import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { mathTypesetter, readingTools, useReadingTools } from "./deferred-tools.ts"
import { renderLongText } from "../long-text.tsx"

export function MathView({ source }: { readonly source: string }): ComponentChildren {
  useReadingTools()
  useEffect(() => void mathTypesetter.load(), [])
  const tools = readingTools.module.value
  const typesetter = mathTypesetter.module.value
  if (tools === null || typesetter === null) return renderLongText(source)
  return <tools.Formula source={source} typeset={typesetter.typesetMath} />
}
