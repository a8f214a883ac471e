/** file-size.ts: formats the size of a file. */

import { sizeText } from "../page-text.ts"
import { formatCount } from "./number-format.ts"

/** Formats a size: "1.2 MB", "64 KB". Units are powers of 1,024, like the limits in shared/limits.ts. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return formatCount(bytes, { style: "unit", unit: "byte", unitDisplay: "long", useGrouping: false })
  const units = [sizeText.kilobytes, sizeText.megabytes, sizeText.gigabytes]
  let size = bytes / 1024
  let unit = 0
  while (size >= 1023.5 && unit < units.length - 1) {
    size /= 1024
    unit++
  }
  return `${formatCount(size, { maximumFractionDigits: size < 99.95 ? 1 : 0, useGrouping: false })} ${units[unit]}`
}
