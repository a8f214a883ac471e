/**
 * part-groups.tsx: renders a long list of parts so that Preact doesn't visit all parts when one of them changes. SPEC
 * MD16.
 */

import { Component, type ComponentChildren, type VNode } from "preact"

/** The number of parts per group. A group whose parts are the same objects as before isn't rendered again. */
const GROUP_PARTS = 32

interface GroupProps<T> {
  readonly parts: readonly T[]
  readonly start: number
  readonly renderPart: (part: T, at: number) => VNode
}

/** Renders the parts without adding elements. `renderPart` must depend only on its arguments. */
export function renderInGroups<T>(
  parts: readonly T[],
  renderPart: (part: T, at: number) => VNode,
): readonly ComponentChildren[] {
  const groups: ComponentChildren[] = []
  for (let start = 0; start < parts.length; start += GROUP_PARTS) {
    const inside = parts.slice(start, start + GROUP_PARTS)
    groups.push(<PartGroup key={start} parts={inside} start={start} renderPart={renderPart} />)
  }
  return groups
}

class PartGroup<T> extends Component<GroupProps<T>> {
  override shouldComponentUpdate(next: GroupProps<T>): boolean {
    const { parts } = this.props
    return next.parts.length !== parts.length || next.parts.some((part, at) => part !== parts[at])
  }

  override render({ parts, start, renderPart }: GroupProps<T>): ComponentChildren {
    return parts.map((part, at) => renderPart(part, start + at))
  }
}
