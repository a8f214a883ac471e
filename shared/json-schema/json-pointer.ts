/** json-pointer.ts: reads the value at a JSON Pointer (RFC 6901) in a JSON document. Pure. */

import { isJsonObject, type Json } from "../json.ts"

/**
 * Returns the value at a pointer; undefined if there is none. A pointer without a leading slash is relative to `item`.
 * Only own properties count, so no pointer reaches a prototype.
 */
export function readPointer(path: string, root: Json, item: Json | undefined): Json | undefined {
  const isAbsolute = path.startsWith("/")
  let value: Json | undefined = isAbsolute ? root : item
  if (path === "") return value
  for (const token of (isAbsolute ? path.slice(1) : path).split("/")) {
    if (value === undefined) return undefined
    value = readChild(value, token.replaceAll("~1", "/").replaceAll("~0", "~"))
  }
  return value
}

function readChild(value: Json, key: string): Json | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d{0,5})$/.test(key) ? value[Number(key)] : undefined
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Appends a key to a pointer. */
export function joinPointer(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`
}
