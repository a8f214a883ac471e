/**
 * weather-tool.ts: the weather for one place, as the data of a weather card (shared/card/weather-payload.ts).
 *
 * Every call ends with data or with `{error, details}`, even if the source misbehaves.
 */

import { MAX_FORECAST_DAYS } from "../../../shared/card/card-limits.ts"
import { WEATHER_MS } from "../../../shared/limits.ts"
import type { Env } from "../../env.ts"
import { defineTool } from "../define-tool.ts"
import type { WeatherSource } from "./weather-source.ts"

export type WeatherEnv = Pick<Env, "WEATHER_SOURCE" | "OPEN_METEO_URL" | "OPEN_METEO_GEOCODING_URL">

/** Maximum length of a place name that is looked up, in characters. The longest real name has 85 letters. */
const MAX_LOCATION_CHARS = 120

/** Number of forecast days by default: as many as the card shows. */
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

/**
 * Creates the configured source. The source's code is loaded when it is called, so that it is not part of the Worker's
 * entry point.
 */
export function createWeatherSource(env: WeatherEnv): WeatherSource {
  return {
    async fetchWeather(location, now, signal) {
      const { selectSource } = await import("./select-source.ts")
      return await (await selectSource(env)).fetchWeather(location, now, signal)
    },
  }
}
