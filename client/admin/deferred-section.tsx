/** deferred-section.tsx: a section of the admin page whose code is loaded when it is opened. */

import { useSignal } from "@preact/signals"
import type { ComponentType, VNode } from "preact"
import { useEffect } from "preact/hooks"
import { deferModule } from "../ui/deferred-module.ts"
import { errorText } from "../words/page-text.ts"
import type { AdminContext } from "./admin-state.ts"
import { Pending } from "./form-fields.tsx"

interface SectionModule {
  readonly Section: ComponentType<AdminContext>
}

/** Creates a component that loads the section, or shows an error and a button to retry if that fails. */
export function deferSection(importModule: () => Promise<SectionModule>): ComponentType<AdminContext> {
  const section = deferModule(importModule)
  return function DeferredSection(props: AdminContext): VNode {
    const fault = useSignal<string | null>(null)
    const load = async (): Promise<void> => {
      fault.value = null
      if (!(await section.load())) fault.value = errorText.unreachable
    }
    useEffect(() => void load(), [])
    const code = section.module.value
    if (code === null) return <Pending of={{ value: null, fault: fault.value, reload: load }} />
    return <code.Section {...props} />
  }
}
