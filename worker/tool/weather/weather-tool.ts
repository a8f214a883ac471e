/**
 * weather-tool.ts: the weather of one place, as the data of a weather card (shared/card/weather-payload.ts).
 *
 * Every call ends with data or with `{error, details}`, even if the source misbehaves.
 */

import { MAX_FORECAST_DAYS } from "../../../shared/card/card-limits.ts"
import { fail } from "../../../shared/fault.ts"
import { WEATHER_MS } from "../../../shared/limits.ts"
import type { Env } from "../../env.ts"
import { defineTool } from "../define-tool.ts"
import type { OpenMeteoConfig } from "./open-meteo.ts"
import type { WeatherSource } from "./weather-source.ts"

export type WeatherEnv = Pick<Env, "WEATHER_SOURCE" | "OPEN_METEO_URL" | "OPEN_METEO_GEOCODING_URL">

/** Longest place name that is looked up. The longest real one has 85 letters. */
const MAX_LOCATION_CHARS = 120

/** As many as the card shows. */
const DEFAULT_FORECAST_DAYS = 3

/**
 * Creates the tool (SPEC TO5–TO8). A call takes at most `timeoutMs`.
 *
 * Errors: `tool_arguments`; `{error, details}` for a fault of the source, and a timeout.
 */
export const createWeatherTool = (source: WeatherSource, timeoutMs: number = WEATHER_MS) =>
  defineTool({
    description:
      "Current weather and the forecast for one place, in metric units. Call it once per place. Give the name of a city, with the country if the name is ambiguous.",
    args: {
      type: "object",
      properties: {
        location: {
          type: "string",
          minLength: 1,
          maxLength: MAX_LOCATION_CHARS,
          description: 'A city, such as "London" or "Portland, US".',
        },
        days: {
          type: "integer",
          minimum: 1,
          maximum: MAX_FORECAST_DAYS,
          description: `Days of forecast after today; ${DEFAULT_FORECAST_DAYS} unless told.`,
        },
      },
      required: ["location"],
      additionalProperties: false,
    },
    effects: "read",
    repeatable: true,
    card: "component",
    async run({ location, days = DEFAULT_FORECAST_DAYS }, context) {
      const { fetchWeather } = await import("./fetch-weather.ts")
      return await fetchWeather(source, location.replace(/\s+/g, " "), days, context, timeoutMs)
    },
  })

/** The configured source. With an unknown name every call fails: sample data must not be mistaken for real data. */
export function createWeatherSource(env: WeatherEnv): WeatherSource {
  switch (env.WEATHER_SOURCE ?? "sample") {
    case "sample":
      return createLazySource(async () => (await import("./weather-sample.ts")).sampleSource)
    case "open-meteo":
      return createLazySource(async () => (await import("./open-meteo.ts")).createOpenMeteoSource(readUrls(env)))
  }
  const details = `WEATHER_SOURCE is "${env.WEATHER_SOURCE}"; it must be "sample" or "open-meteo".`
  return { fetchWeather: async () => fail({ reason: "upstream_failed", details }) }
}

/** Loads a source with each call, so that it is not part of the Worker's entry. */
function createLazySource(loadSource: () => Promise<WeatherSource>): WeatherSource {
  return {
    fetchWeather: async (location, now, signal) => await (await loadSource()).fetchWeather(location, now, signal),
  }
}

function readUrls({ OPEN_METEO_URL, OPEN_METEO_GEOCODING_URL }: WeatherEnv): OpenMeteoConfig {
  return { forecastUrl: OPEN_METEO_URL, geocodingUrl: OPEN_METEO_GEOCODING_URL }
}
