/**
 * weather-tool.ts: the weather of one place, as the data of a weather card (shared/card/weather-payload.ts).
 *
 * Every call ends with data or with `{error, details}`, even if the source misbehaves. An error has no trailer, because it
 * must not become a card.
 */

import { MAX_FORECAST_DAYS, type WeatherPayload } from "../../../shared/card/weather-payload.ts"
import { fail, type Result } from "../../../shared/fault.ts"
import type { Json } from "../../../shared/json.ts"
import { WEATHER_MS } from "../../../shared/limits.ts"
import type { Env } from "../../env.ts"
import { rejectOnAbort } from "../../platform/abort.ts"
import { errorMessage } from "../../platform/log.ts"
import type { OpenMeteoConfig } from "./open-meteo.ts"
import { createCardTrailer, type Tool, type ToolArgs, type ToolContext, toolResult } from "../tool.ts"
import type { WeatherFault, WeatherSource } from "./weather-source.ts"

export type WeatherEnv = Pick<Env, "WEATHER_SOURCE" | "OPEN_METEO_URL" | "OPEN_METEO_GEOCODING_URL">

/** Longest place name that is looked up. The longest real one has 85 letters. */
const MAX_LOCATION_CHARS = 120

/** As many as the card shows. */
const DEFAULT_FORECAST_DAYS = 3

/**
 * Creates the tool (SPEC TO5–TO8). A call takes at most `timeoutMs`.
 *
 * Errors: `{error, details}` for an invalid location, a fault of the source, and a timeout.
 */
export function createWeatherTool(source: WeatherSource, timeoutMs: number = WEATHER_MS): Tool {
  return {
    name: "weather",
    description:
      "Current weather and the forecast for one place, in metric units. Call it once per place. Give the name of a city, with the country if the name is ambiguous.",
    parameters: {
      type: "object",
      properties: {
        location: { type: "string", description: 'A city, such as "London" or "Portland, US".' },
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
    repeatable: true,
    readsOnly: true,
    // If later context omitted the calls, the model would see only its answers and learn to answer without calling.
    ephemeral: false,
    async execute(args, ctx) {
      const location = parseLocation(args)
      if (location === null) return createLocationError()
      const fetched = await fetchWithTimeout(source, location, ctx, timeoutMs)
      if (!fetched.ok) return { error: describeFault(fetched.fault, location), details: fetched.fault.details }
      const forecast_days = fetched.value.forecast_days?.slice(0, parseDays(args)).map((day) => ({ ...day })) ?? []
      return toolResult(ctx, { ...fetched.value, forecast_days }, createCardTrailer)
    },
  }
}

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

function parseLocation(args: ToolArgs): string | null {
  const { location } = args
  if (typeof location !== "string") return null
  const trimmed = location.trim().replace(/\s+/g, " ")
  return trimmed === "" || trimmed.length > MAX_LOCATION_CHARS ? null : trimmed
}

/** Uses the default if `days` is missing or not a number. Other values are limited to what a payload can hold. */
function parseDays({ days }: ToolArgs): number {
  const wanted = typeof days === "number" ? Math.trunc(days) : DEFAULT_FORECAST_DAYS
  return Math.min(Math.max(wanted, 1), MAX_FORECAST_DAYS)
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
      return "The weather service's response could not be read."
  }
}

/** Returns after `timeoutMs` even if the source ignores its signal. */
async function fetchWithTimeout(
  source: WeatherSource,
  location: string,
  ctx: ToolContext,
  timeoutMs: number,
): Promise<Result<WeatherPayload, WeatherFault>> {
  const controller = new AbortController()
  const abortLookups = (): void => controller.abort()
  const timer = setTimeout(abortLookups, timeoutMs)
  ctx.signal.addEventListener("abort", abortLookups, { once: true })
  if (ctx.signal.aborted) abortLookups()
  try {
    return await rejectOnAbort(source.fetchWeather(location, ctx.now(), controller.signal), controller.signal)
  } catch (error) {
    if (!controller.signal.aborted) return fail({ reason: "upstream_failed", details: errorMessage(error) })
    const details = ctx.signal.aborted ? "The call was stopped." : `No response within ${timeoutMs / 1000} s.`
    return fail({ reason: "upstream_timeout", details })
  } finally {
    clearTimeout(timer)
    ctx.signal.removeEventListener("abort", abortLookups)
  }
}
