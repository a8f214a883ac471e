/** view-icon.tsx: the icons of cards, as lines on a grid of 24. They repeat what a text says, so they are hidden from readers. */

import type { VNode } from "preact"
import type { IconName } from "../../../shared/card/view/icon-name.ts"

const PATHS: { readonly [name in IconName]: string } = {
  accountCircle: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20c1-4 4-5.5 7.5-5.5s6.5 1.5 7.5 5.5",
  add: "M12 5v14M5 12h14",
  arrowBack: "M19 12H5m6-6-6 6 6 6",
  arrowForward: "M5 12h14m-6-6 6 6-6 6",
  arrowUpward: "M12 19V5m-6 6 6-6 6 6",
  arrowDownward: "M12 5v14m-6-6 6 6 6-6",
  attachFile: "m20 11-8.5 8.5a5 5 0 0 1-7-7L13 4a3.5 3.5 0 0 1 5 5l-8.5 8.5a1.5 1.5 0 0 1-2.5-2L14.5 8",
  calendarToday: "M4 6h16v14H4zM4 10h16M8 3v4m8-4v4",
  call: "M6 3h3l2 5-2.5 2a12 12 0 0 0 5.5 5.5l2-2.5 5 2v3a2 2 0 0 1-2 2A16 16 0 0 1 4 5a2 2 0 0 1 2-2z",
  check: "m5 12.5 5 5L19.5 7",
  close: "m6 6 12 12M18 6 6 18",
  download: "M12 4v11m-5-5 5 5 5-5M5 20h14",
  edit: "m4 20 1-4.5L16.5 4 20 7.5 8.5 19z",
  error: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7.5V13m0 3.2v.3",
  favorite: "M12 20s-8-4.8-8-10.5A4.4 4.4 0 0 1 12 7a4.4 4.4 0 0 1 8 2.5C20 15.2 12 20 12 20z",
  folder: "M3.5 6h6l2 2.5h9V19h-17z",
  help: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7m0 2.8v.2",
  home: "m4 11 8-7 8 7v9h-5.5v-6h-5v6H4z",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5.5m0-9v.2",
  locationOn: "M12 21s7-6.5 7-11.5a7 7 0 1 0-14 0C5 14.5 12 21 12 21zM12 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  lock: "M5 11h14v9H5zM8 11V8a4 4 0 0 1 8 0v3",
  mail: "M3.5 5.5h17v13h-17zm0 1 8.5 7 8.5-7",
  notifications: "M6 17V11a6 6 0 1 1 12 0v6l1.5 1.5h-15zM10 21h4",
  pause: "M8.5 5v14m7-14v14",
  payment: "M3 6h18v12.5H3zM3 10.5h18M6.5 15H11",
  photo: "M3.5 5h17v14h-17zm0 11 5-5 4 4 3-3 5 5M15.5 9v.2",
  play: "m7 4.5 12 7.5-12 7.5z",
  refresh: "M19.5 12a7.5 7.5 0 1 1-2.2-5.3L20 9.5m0-5v5h-5",
  schedule: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5.5l3.5 2",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zm5-1.5L20 20",
  send: "m4 12 16.5-8L15 20.5 11.5 13z",
  settings:
    "M12 15.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM12 3v3m0 12v3m9-9h-3M6 12H3m15.4-6.4-2.2 2.2m-8.4 8.4-2.2 2.2m12.8 0-2.2-2.2M7.8 7.8 5.6 5.6",
  share: "M12 15V4m-4 4 4-4 4 4M5 12v8h14v-8",
  shoppingCart: "M3 4h2.5L8 15h10l2.5-8H6.5M9.5 19.5v.2m7-.2v.2",
  star: "m12 4 2.5 5.2 5.5.8-4 4 1 5.6-5-2.7-5 2.7 1-5.6-4-4 5.5-.8z",
  visibility: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  warning: "M12 4 2.5 20h19zM12 10v5m0 2.3v.2",
}

export function ViewIcon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="view-icon" data-icon={name} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
