/**
 * weather-cache.ts: where weather replies are kept, to be used again or to stand in when the upstream fails.
 *
 * The data is public and keyed by place, so sessions and tenants share it.
 */

import { isWeatherPayload, type WeatherPayload } from "../../../shared/card/weather-payload.ts"
import { isJsonObject, parseJson } from "../../../shared/json.ts"
import { WEATHER_STALE_MS } from "../../../shared/limits.ts"

export interface CachedWeather {
  readonly payload: WeatherPayload
  /** When it was fetched, in milliseconds since 1970. */
  readonly at: number
}

/** May forget anything at any time; never throws. */
export interface WeatherCache {
  get(key: string): Promise<CachedWeather | null>
  put(key: string, cached: CachedWeather): Promise<void>
}

/**
 * The Cache API of the data centre. A map in memory would be gone with the isolate seconds after the last request, so
 * a stale day in it would be a promise that is not kept. The price: on a `workers.dev` address the platform makes this
 * cache forget everything, and each question goes upstream; a deployment on its own domain has it.
 */
export const weatherCache: WeatherCache = {
  async get(key) {
    try {
      const response = await caches.default.match(createCacheUrl(key))
      return response === undefined ? null : parseCachedWeather(await response.text())
    } catch {
      return null
    }
  },
  async put(key, cached) {
    const headers = { "cache-control": `max-age=${WEATHER_STALE_MS / 1000}`, "content-type": "application/json" }
    try {
      await caches.default.put(createCacheUrl(key), new Response(JSON.stringify(cached), { headers }))
    } catch {
      // Weather that is not kept is asked for again.
    }
  },
}

/** The cache is keyed by addresses; this one belongs to nobody. */
function createCacheUrl(key: string): string {
  return `https://weather.invalid/?${new URLSearchParams({ key })}`
}

function parseCachedWeather(text: string): CachedWeather | null {
  const value = parseJson(text)
  if (!isJsonObject(value)) return null
  const { payload, at } = value
  return isWeatherPayload(payload) && typeof at === "number" ? { payload, at } : null
}
