/** icon-name.ts: the icons that a card can show. The names are those of A2UI's catalogue. */

export const ICON_NAMES = [
  "accountCircle",
  "add",
  "arrowBack",
  "arrowForward",
  "arrowUpward",
  "arrowDownward",
  "attachFile",
  "calendarToday",
  "call",
  "check",
  "close",
  "download",
  "edit",
  "error",
  "favorite",
  "folder",
  "help",
  "home",
  "info",
  "locationOn",
  "lock",
  "mail",
  "notifications",
  "pause",
  "payment",
  "photo",
  "play",
  "refresh",
  "schedule",
  "search",
  "send",
  "settings",
  "share",
  "shoppingCart",
  "star",
  "visibility",
  "warning",
] as const

export type IconName = (typeof ICON_NAMES)[number]

/** Other names, from A2UI's catalogue or in common use, each mapped to a similar icon above. */
const ALIASES: { readonly [name: string]: IconName } = {
  person: "accountCircle",
  phone: "call",
  event: "calendarToday",
  camera: "photo",
  favoriteOff: "favorite",
  starHalf: "star",
  starOff: "star",
  stop: "close",
  delete: "close",
  skipNext: "arrowForward",
  skipPrevious: "arrowBack",
  fastForward: "arrowForward",
  rewind: "arrowBack",
  upload: "arrowUpward",
  lockOpen: "lock",
  notificationsOff: "notifications",
  visibilityOff: "visibility",
  trending_up: "arrowUpward",
  trending_down: "arrowDownward",
  arrow_upward: "arrowUpward",
  arrow_downward: "arrowDownward",
}

export function parseIconName(name: unknown): IconName | null {
  if (typeof name !== "string") return null
  const alias = Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined
  return alias ?? ICON_NAMES.find((known) => known === name) ?? null
}
