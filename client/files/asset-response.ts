/** asset-response.ts: parses the response to an upload. Pure. */

import type { Asset } from "../../shared/protocol/event.ts"
import { createParser, isNumber, isOptional, isString } from "../../shared/protocol/shape-check.ts"

const parseAssetFields = createParser<Asset>({
  id: isString,
  kind: isString,
  mime_type: isString,
  label: isString,
  size: isNumber,
  voice: isOptional((value) => value === true),
  width: isOptional(isNumber),
  height: isOptional(isNumber),
})

/** Returns the asset in an upload's response without the response's other fields; null if the response is malformed. */
export function parseAsset(value: unknown): Asset | null {
  const asset = parseAssetFields(value)
  if (asset === null) return null
  const { id, kind, mime_type, label, size, voice, width, height } = asset
  const dimensions = width === undefined || height === undefined ? {} : { width, height }
  return { id, kind, mime_type, label, size, ...(voice === true ? { voice } : {}), ...dimensions }
}
