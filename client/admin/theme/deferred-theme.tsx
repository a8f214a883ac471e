/** deferred-theme.tsx: loads the theme section, with its preview, when it is opened. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import { deferModule } from "../../ui/deferred-module.ts"
import { errorText } from "../../words/page-text.ts"
import type { AdminContext } from "../admin-state.ts"
import { Pending } from "../form-fields.tsx"

const section = deferModule(() => import("./theme-section.tsx"))

export function DeferredTheme(props: AdminContext): VNode {
  const fault = useSignal<string | null>(null)
  const load = async (): Promise<void> => {
    fault.value = null
    if (!(await section.load())) fault.value = errorText.unreachable
  }
  useEffect(() => void load(), [])
  const code = section.module.value
  if (code === null) return <Pending of={{ value: null, fault: fault.value, reload: load }} />
  return <code.ThemeSection {...props} />
}
