/**
 * weather-tool.ts: the weather of one place, as a card where it may be one.
 *
 * call → WEATHER → `<JSON>\n\n<trailer>` or `{error, details}`
 * Whatever the source does, the call ends with one of these: an error has no trailer, since no card is to be
 * made of it. The shape of the data is that of seed 000 §7.1 (shared/card/weather-payload.ts).
 */

import type { WeatherPayload } from "../../../shared/card/weather-payload.ts"
import { fail, type Result } from "../../../shared/fault.ts"
import type { Json } from "../../../shared/json.ts"
import { WEATHER_MS } from "../../../shared/limits.ts"
import { createOpenMeteoSource } from "./open-meteo.ts"
import { createCardTrailer, type Tool, type ToolArgs, type ToolContext, toolResult } from "../tool.ts"
import { sampleSource } from "./weather-sample.ts"
import type { WeatherFault, WeatherSource } from "./weather-source.ts"

export interface WeatherEnv {
  /** `sample` (also when it is not set) or `open-meteo`. */
  readonly WEATHER_SOURCE?: string
  readonly OPEN_METEO_URL?: string
  readonly OPEN_METEO_GEOCODING_URL?: string
}

/** Longest place name that is looked up, in characters: the longest real one has 85 letters. */
const MAX_LOCATION_CHARS = 120

/**
 * The weather tool over one source.
 *
 * Errors  every fault of the source, a bad `location`, and a source that is silent for `timeoutMs`, as `{error, details}`.
 * Cost    at most `timeoutMs`.
 * Source  SPEC TO5–TO8.
 */
export function createWeatherTool(source: WeatherSource, timeoutMs: number = WEATHER_MS): Tool {
  return {
    name: "weather",
    description:
      "Current weather and tomorrow's forecast for one place. Call it once per place; give a city name, with the country where it helps.",
    parameters: {
      type: "object",
      properties: { location: { type: "string", description: 'A city, such as "London" or "Portland, US".' } },
      required: ["location"],
      additionalProperties: false,
    },
    repeatable: true,
    // A model that saw its older answers without the calls behind them would learn to answer without calling.
    ephemeral: false,
    async execute(args, ctx) {
      const location = parseLocation(args)
      if (location === null) return createLocationError()
      const fetched = await fetchWithTimeout(source, location, ctx, timeoutMs)
      if (!fetched.ok) return { error: describeFault(fetched.fault, location), details: fetched.fault.details }
      return toolResult(ctx, { ...fetched.value }, createCardTrailer)
    },
  }
}

/** The source that a deployment names. A name that we do not know fails each call, rather than showing sample data as real. */
export function createWeatherSource(env: WeatherEnv): WeatherSource {
  switch (env.WEATHER_SOURCE ?? "sample") {
    case "sample":
      return sampleSource
    case "open-meteo":
      return createOpenMeteoSource({ forecastUrl: env.OPEN_METEO_URL, geocodingUrl: env.OPEN_METEO_GEOCODING_URL })
  }
  const details = `WEATHER_SOURCE is "${env.WEATHER_SOURCE}"; it may be "sample" or "open-meteo".`
  return { fetchWeather: async () => fail({ reason: "upstream_failed", details }) }
}

function parseLocation(args: ToolArgs): string | null {
  const { location } = args
  if (typeof location !== "string") return null
  const trimmed = location.trim().replace(/\s+/g, " ")
  return trimmed === "" || trimmed.length > MAX_LOCATION_CHARS ? null : trimmed
}

function createLocationError(): { readonly [key: string]: Json } {
  const details = `"location" must be a place name of 1 to ${MAX_LOCATION_CHARS} characters.`
  return { error: "The location is missing or not a place name.", details }
}

function describeFault(fault: WeatherFault, location: string): string {
  switch (fault.reason) {
    case "city_unknown":
      return `There is no place called "${location}".`
    case "upstream_failed":
      return "The weather service failed."
    case "upstream_timeout":
      return "The weather service took too long."
    case "upstream_malformed":
      return "The weather service's reply could not be read."
  }
}

/** Does not rely on the source to obey its signal: a hung source costs `timeoutMs` and no more. */
async function fetchWithTimeout(
  source: WeatherSource,
  location: string,
  ctx: ToolContext,
  timeoutMs: number,
): Promise<Result<WeatherPayload, WeatherFault>> {
  const controller = new AbortController()
  const stopped = new Promise<Result<WeatherPayload, WeatherFault>>((resolve) => {
    controller.signal.addEventListener("abort", () => {
      const details = ctx.signal.aborted ? "The call was stopped." : `No answer within ${timeoutMs / 1000} s.`
      resolve(fail({ reason: "upstream_timeout", details }))
    })
  })
  const stop = (): void => controller.abort()
  const timer = setTimeout(stop, timeoutMs)
  ctx.signal.addEventListener("abort", stop, { once: true })
  if (ctx.signal.aborted) stop()
  try {
    return await Promise.race([stopped, source.fetchWeather(location, ctx.now(), controller.signal)])
  } catch (error) {
    const details = error instanceof Error ? error.message : "unknown"
    return fail({ reason: "upstream_failed", details })
  } finally {
    clearTimeout(timer)
    ctx.signal.removeEventListener("abort", stop)
  }
}
