/**
 * weather-cache.ts: caches weather by place, for reuse and as a fallback when the upstream fails.
 *
 * The data is public, so all sessions and tenants share the cache.
 */

import { isWeatherPayload, type WeatherPayload } from "../../../shared/card/weather-payload.ts"
import { isJsonObject, parseJson } from "../../../shared/json.ts"
import { WEATHER_STALE_MS } from "../../../shared/limits.ts"

export interface CachedWeather {
  readonly payload: WeatherPayload
  /** When it was fetched, in milliseconds since 1970. */
  readonly at: number
}

/** May drop entries at any time. Does not throw. */
export interface WeatherCache {
  get(key: string): Promise<CachedWeather | null>
  put(key: string, cached: CachedWeather): Promise<void>
}

/**
 * The Cache API of the data centre. A map in memory would not outlive the isolate, which ends seconds after the last
 * request. On a `workers.dev` host, the platform's cache stores nothing, so every request goes upstream. The cache
 * works for deployments on their own domain.
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
      // The next call fetches the weather again.
    }
  },
}

/** Creates a key. The Cache API needs URLs as keys. This host name does not exist. */
function createCacheUrl(key: string): string {
  return `https://weather.invalid/?${new URLSearchParams({ key })}`
}

function parseCachedWeather(text: string): CachedWeather | null {
  const value = parseJson(text)
  if (!isJsonObject(value)) return null
  const { payload, at } = value
  return isWeatherPayload(payload) && typeof at === "number" ? { payload, at } : null
}
