/**
 * shortcut-keys.ts: decides whether a key press is a shortcut, and how a shortcut is written. Pure. Source: SPEC KB1 to
 * KB3.
 */

/** Keys that are pressed together. `mod` is ⌘ on Apple's systems and Ctrl elsewhere. */
export interface Keys {
  /** A value of `KeyboardEvent.key`; a letter in lower case. */
  readonly key: string
  readonly mod?: true
  readonly shift?: true
  readonly alt?: true
}

export type KeyPress = Pick<
  KeyboardEvent,
  "key" | "code" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey" | "isComposing" | "keyCode"
>

/** Returns whether an input method is handling the key press. Such a press is never a shortcut. */
export function isComposing({ isComposing: composes, keyCode }: KeyPress): boolean {
  return composes || keyCode === 229
}

/** Returns whether the keys are a single character without Ctrl, ⌘ or Alt. In a text field, such keys type text. */
export function isSingleKey({ key, mod, alt }: Keys): boolean {
  return key.length === 1 && mod === undefined && alt === undefined
}

export function matchesKeys(press: KeyPress, keys: Keys, isApple: boolean): boolean {
  const [mod, other] = isApple ? [press.metaKey, press.ctrlKey] : [press.ctrlKey, press.metaKey]
  if (mod !== (keys.mod ?? false) || other || press.altKey !== (keys.alt ?? false)) return false
  // Which punctuation needs Shift depends on the keyboard layout.
  const needsSameShift = !/^[^\w\s]$/.test(keys.key)
  if (needsSameShift && press.shiftKey !== (keys.shift ?? false)) return false
  return findKey(press) === keys.key
}

/**
 * Returns the pressed key. On keyboards without Latin letters, and where Alt changes the letter, the key is identified
 * by its position.
 */
function findKey({ key, code, altKey }: KeyPress): string {
  const isLatin = /^[\x20-\x7e]$/.test(key)
  if (key.length === 1 && (!isLatin || altKey)) return /^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase() ?? key
  return key.length === 1 ? key.toLowerCase() : key
}

const APPLE_NAMES: Readonly<Record<string, string>> = { Escape: "esc", ArrowUp: "↑", ArrowDown: "↓", Enter: "↩" }
const OTHER_NAMES: Readonly<Record<string, string>> = { Escape: "Esc", ArrowUp: "↑", ArrowDown: "↓" }

/** Returns the names of the keys in conventional order: ["Ctrl", "Shift", "O"] or ["⇧", "⌘", "O"]. */
export function nameKeys({ key, mod, shift, alt }: Keys, isApple: boolean): readonly string[] {
  const names = isApple ? APPLE_NAMES : OTHER_NAMES
  const name = names[key] ?? (key.length === 1 ? key.toUpperCase() : key)
  const modifiers = isApple ? [alt && "⌥", shift && "⇧", mod && "⌘"] : [mod && "Ctrl", alt && "Alt", shift && "Shift"]
  return [...modifiers.filter((one) => typeof one === "string"), name]
}
