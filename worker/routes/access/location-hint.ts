/** location-hint.ts: chooses where the platform creates the objects for a request, based on the client's location. */

/** The part of `request.cf` that is used here. It is absent in local use. */
interface RequestPlace {
  readonly continent?: unknown
  /** A decimal number as a string. */
  readonly longitude?: unknown
}

/** For each continent, a western and an eastern location, and the meridian that divides them. */
const CONTINENTS = new Map<string, readonly [DurableObjectLocationHint, number, DurableObjectLocationHint]>([
  ["AF", ["afr", 180, "afr"]],
  // The Middle East is part of Asia.
  ["AS", ["me", 60, "apac"]],
  ["EU", ["weur", 15, "eeur"]],
  ["NA", ["wnam", -100, "enam"]],
  ["OC", ["oc", 180, "oc"]],
  ["SA", ["sam", 180, "sam"]],
])

/**
 * Returns the location nearest to the client; undefined if the client's location is unknown. The platform uses a hint
 * only when it creates an object, and ignores it for an object in a region.
 */
export function readLocationHint({ cf }: { readonly cf?: unknown }): DurableObjectLocationHint | undefined {
  const { continent, longitude }: RequestPlace = cf ?? {}
  const entry = typeof continent === "string" ? CONTINENTS.get(continent) : undefined
  if (entry === undefined) return undefined
  const [west, meridian, east] = entry
  const degrees = Number.parseFloat(String(longitude))
  // Without a longitude, take the location that is nearest to most clients on the continent.
  if (Number.isNaN(degrees)) return continent === "EU" ? west : east
  return degrees < meridian ? west : east
}
