/**
 * clean.ts: model text in, clean Markdown out, piece by piece.
 *
 * model → CLEAN → event → fold
 * Pure.
 */

/** Plain JSON; a fresh cleaner goes on from it in the middle of a tag. */
export interface CleanState {
  readonly held: string
}

export interface Cleaner {
  push(text: string): string
  end(): string
  save(): CleanState
}

export function createCleaner(saved?: CleanState): Cleaner {
  let held = saved?.held ?? ""
  return {
    push(text) {
      const all = held + text
      held = /[\r\ud800-\udbff]$/.test(all) ? all.slice(-1) : ""
      return all
        .slice(0, all.length - held.length)
        .replace(/\r\n?/g, "\n")
        .replace(/[\ud800-\udfff]/gu, "\ufffd")
    },
    end() {
      const rest = held
      held = ""
      return rest === "" ? "" : rest === "\r" ? "\n" : "\ufffd"
    },
    save: () => ({ held }),
  }
}

export function clean(text: string): string {
  const cleaner = createCleaner()
  return cleaner.push(text) + cleaner.end()
}

export function cleanToModel(text: string): string {
  return text.replace(/&lt;(?=[A-Za-z/!?])/g, "<")
}
