/** source-numbers.ts: the sources of the answer that contains a component, by URL. Source: SPEC SC4. */

import { createContext } from "preact"
import type { Segment } from "../../../shared/protocol/segment.ts"

export type Source = Extract<Segment, { type: "source" }>

export interface NumberedSource extends Source {
  /** The source's number, counted from 1 in the order of the list. */
  readonly number: number
}

export type NumberedSources = ReadonlyMap<string, NumberedSource>

/** Shared by all answers without sources, so that their links aren't re-rendered. */
export const NO_SOURCES: NumberedSources = new Map()

export const SourcesContext = createContext(NO_SOURCES)

export function numberSources(segments: readonly Segment[]): NumberedSources {
  // Sources come after all other segments.
  if (segments.at(-1)?.type !== "source") return NO_SOURCES
  const sources = segments.filter((segment) => segment.type === "source")
  return new Map(sources.map((source, at) => [source.url, { ...source, number: at + 1 }]))
}
