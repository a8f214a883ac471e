/** version-switch.tsx: `‹ 1/2 ›`, for a message that has several versions. */

import type { VNode } from "preact"
import { ActionButton } from "../../ui/action-button.tsx"
import { actionText } from "../../words/parts/message-text.ts"

interface VersionSwitchProps {
  readonly version: number
  readonly versions: number
  readonly isDisabled: boolean
  readonly onSwitch: (version: number) => void
}

export function VersionSwitch({ version, versions, isDisabled, onSwitch }: VersionSwitchProps): VNode {
  return (
    <fieldset class="versions" aria-label={actionText.version(version, versions)}>
      <ActionButton
        label={actionText.previousVersion}
        way="back"
        isDisabled={isDisabled || version <= 1}
        onActivate={() => onSwitch(version - 1)}
      >
        <path d="M11.8 5.5 7.3 10l4.5 4.5" />
      </ActionButton>
      <span aria-hidden="true">
        {version}/{versions}
      </span>
      <ActionButton
        label={actionText.nextVersion}
        way="on"
        isDisabled={isDisabled || version >= versions}
        onActivate={() => onSwitch(version + 1)}
      >
        <path d="M8.2 5.5l4.5 4.5-4.5 4.5" />
      </ActionButton>
    </fieldset>
  )
}
