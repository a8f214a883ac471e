/** view-node.ts: the node tree of a filled card, which the page draws and the export converts to Markdown. */

import type { ChartPayload } from "../chart-payload.ts"
import type { ALIGN, CELL_ALIGN, IMAGE_VARIANTS, JUSTIFY, TEXT_VARIANTS, TONES } from "./card-template.ts"
import type { Runs } from "./format-value.ts"
import type { IconName } from "./icon-name.ts"

export type TextVariant = (typeof TEXT_VARIANTS)[number]
export type ImageVariant = (typeof IMAGE_VARIANTS)[number]
export type Justify = (typeof JUSTIFY)[number]
export type Align = (typeof ALIGN)[number]
export type Tone = (typeof TONES)[number]
export type CellAlign = (typeof CELL_ALIGN)[number]

export interface TableColumn {
  readonly title: string
  readonly align: CellAlign
}

export interface ViewTab {
  readonly title: Runs
  readonly child: ViewNode
}

type Content =
  | { readonly type: "text"; readonly runs: Runs; readonly variant: TextVariant }
  /** `url` has been checked: it may be used as a link. */
  | { readonly type: "link"; readonly runs: Runs; readonly url: string }
  | { readonly type: "badge"; readonly runs: Runs; readonly tone: Tone }
  | { readonly type: "icon"; readonly name: IconName }
  /** `url` is an https URL, or the URL of a stored file. */
  | { readonly type: "image"; readonly url: string; readonly label: string; readonly variant: ImageVariant }
  | {
      readonly type: "row" | "column"
      readonly children: readonly ViewNode[]
      readonly justify: Justify
      readonly align: Align
    }
  /** `omitted`: the number of items that aren't shown. */
  | {
      readonly type: "list"
      readonly children: readonly ViewNode[]
      readonly isHorizontal: boolean
      readonly omitted: number
    }
  | { readonly type: "card"; readonly child: ViewNode }
  | { readonly type: "tabs"; readonly tabs: readonly ViewTab[] }
  | { readonly type: "divider" }
  | {
      readonly type: "table"
      readonly columns: readonly TableColumn[]
      readonly rows: readonly (readonly Runs[])[]
      readonly omitted: number
    }
  | { readonly type: "chart"; readonly chart: ChartPayload; readonly omitted: number }
  /** `value`: between 0 and 1. */
  | { readonly type: "progress"; readonly label: Runs; readonly value: number; readonly text: string }
  /** `endsAt`: milliseconds since 1970. `text`: that time, formatted. `done`: the text shown after it. */
  | {
      readonly type: "timer"
      readonly label: Runs
      readonly endsAt: number
      readonly text: string
      readonly done: string
    }
  /** A click makes the action's tool call. `item`: the index of the list item that contains the button. */
  | {
      readonly type: "button"
      readonly label: Runs
      readonly action: string
      readonly isPrimary: boolean
      readonly item: number | undefined
    }
  /** `initial`: the value before the user changes it. `options`: empty unless the field is a choice. */
  | {
      readonly type: "field"
      readonly kind: "text" | "longText" | "number" | "check" | "choice" | "date"
      readonly name: string
      readonly label: Runs
      readonly initial: string
      readonly options: readonly FieldOption[]
      readonly isRequired: boolean
    }

/** An option of a choice field. */
export interface FieldOption {
  readonly value: string
  readonly label: string
}

/** `weight`: the node's share of the space in its row or column. */
export type ViewNode = Content & { readonly weight?: number }

export interface FilledView {
  readonly title: string
  readonly root: ViewNode
}
