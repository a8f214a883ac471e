/** select-source.ts: chooses the deployment's source of weather, and loads it. */

import { fail } from "../../../shared/fault.ts"
import type { WeatherSource } from "./weather-source.ts"
import type { WeatherEnv } from "./weather-tool.ts"

/**
 * Returns the configured source. With an unknown name, every call fails, because sample data must not be mistaken for
 * real data.
 */
export async function selectSource(env: WeatherEnv): Promise<WeatherSource> {
  switch (env.WEATHER_SOURCE ?? "sample") {
    case "sample":
      return (await import("./weather-sample.ts")).sampleSource
    case "open-meteo": {
      const { createOpenMeteoSource } = await import("./open-meteo.ts")
      return createOpenMeteoSource({ forecastUrl: env.OPEN_METEO_URL, geocodingUrl: env.OPEN_METEO_GEOCODING_URL })
    }
  }
  const details = `WEATHER_SOURCE is "${env.WEATHER_SOURCE}"; it must be "sample" or "open-meteo".`
  return { fetchWeather: async () => fail({ reason: "upstream_failed", details }) }
}
