/** contrast-table.tsx: the contrast of each pair of colours in both schemes, and whether it is sufficient. */

import type { VNode } from "preact"
import { parseColor } from "../../../shared/theme/color.ts"
import { SCHEMES, type Theme } from "../../../shared/theme/page-theme.ts"
import { CONTRAST_PAIRS, listContrasts, type PairContrast } from "../../../shared/theme/theme-contrast.ts"
import { themeText } from "../../words/theme/theme-text.ts"

export function ContrastTable({ theme }: { readonly theme: Theme }): VNode | null {
  const colors = [theme.accent, theme.accent_text].flatMap((pair) => [pair.light, pair.dark])
  if (colors.some((color) => parseColor(color) === null)) return null
  const contrasts = listContrasts(theme)
  return (
    <table class="contrasts">
      <caption>{themeText.contrast}</caption>
      <thead>
        <tr>
          <td />
          {SCHEMES.map((scheme) => (
            <th key={scheme} scope="col">
              {themeText.scheme[scheme]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {CONTRAST_PAIRS.map((pair) => (
          <tr key={pair}>
            <th scope="row">{themeText.pair[pair]}</th>
            {contrasts
              .filter((contrast) => contrast.pair === pair)
              .map((contrast) => (
                <Ratio key={contrast.scheme} {...contrast} />
              ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Ratio({ ratio, least }: PairContrast): VNode {
  const isLow = ratio < least
  return (
    <td data-low={isLow ? "" : undefined}>
      <bdi>{themeText.ratio(ratio)}</bdi>{" "}
      <span>{isLow ? `${themeText.fails}, ${themeText.atLeast(least)}` : themeText.passes}</span>
    </td>
  )
}
