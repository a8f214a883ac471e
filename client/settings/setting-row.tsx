/** setting-row.tsx: a setting that is an action: its title, an explanation and a button. */

import type { ComponentChildren, VNode } from "preact"

interface SettingRowProps {
  readonly title: string
  readonly hint: string
  readonly children: ComponentChildren
}

export function SettingRow({ title, hint, children }: SettingRowProps): VNode {
  return (
    <div class="setting">
      <div>
        <p>{title}</p>
        <p class="hint">{hint}</p>
      </div>
      {children}
    </div>
  )
}
