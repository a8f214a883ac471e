/** weather.test.ts: tests the weather tool with both sources. A loopback server acts as Open-Meteo. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { isWeatherPayload, type WeatherPayload } from "../../shared/card/weather-payload.ts"
import { resolveCardTag, extractResultData } from "../../shared/protocol/card-cue.ts"
import { WEATHER_FRESH_MS, WEATHER_STALE_MS } from "../../shared/limits.ts"
import { createOpenMeteoSource } from "../../worker/tool/weather/open-meteo.ts"
import { SAMPLE_CITIES } from "../../worker/tool/weather/sample-cities.ts"
import type { ToolArgs, ToolContext } from "../../worker/tool/tool.ts"
import { createWeatherSource, createWeatherTool } from "../../worker/tool/weather/weather-tool.ts"
import type { CachedWeather, WeatherCache } from "../../worker/tool/weather/weather-cache.ts"
import { sampleSource } from "../../worker/tool/weather/weather-sample.ts"
import { toolContext } from "./tools.ts"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"

/** 13:07 UTC on a spring day, when it is afternoon in Europe and night in East Asia. */
const NOON = Date.UTC(2026, 4, 2, 13, 7)
const MINUTE = 60_000

function createContext(change: Partial<ToolContext> = {}): ToolContext {
  return toolContext({ now: () => NOON, ...change })
}

const sample = createWeatherTool(sampleSource)

async function payloadOf(location: string, now = NOON): Promise<WeatherPayload> {
  const result = await sample.execute({ location }, createContext({ now: () => now }))
  if (!isWeatherPayload(result)) throw new Error(`no payload: ${JSON.stringify(result)}`)
  return result
}

/** Returns a cache without expiry, so that the test controls the time. */
function memoryCache(): WeatherCache & { readonly entries: Map<string, CachedWeather> } {
  const entries = new Map<string, CachedWeather>()
  return { entries, get: async (key) => entries.get(key) ?? null, put: async (key, one) => void entries.set(key, one) }
}

/** A time limit that is longer than a test can take, in milliseconds. */
const PATIENT_MS = 600_000

let runs = 0

function upstreamTool(scenario: string, timeoutMs = 1_500) {
  runs += 1
  const run = `w${runs}`
  const url = `${upstreamUrl(env)}/weather/${scenario}/${run}`
  const tool = createWeatherTool(
    createOpenMeteoSource({ forecastUrl: url, geocodingUrl: url, cache: memoryCache() }),
    timeoutMs,
  )
  return { tool, run, paths: async () => (await readUpstream(env, run)).map((seen) => seen.path) }
}

describe("what the tool returns", () => {
  test("[TO5] without a tag, it returns the plain object", async () => {
    expect(await sample.execute({ location: "London" }, createContext())).toEqual({
      location: "London, GB",
      condition: "Partly cloudy",
      temperature_c: 12.4,
      temperature_f: 54.3,
      feels_like_c: 10.1,
      humidity_pct: 78,
      wind_kmh: 14.2,
      wind_direction: "WSW",
      visibility_km: 24,
      uv_index: 5.4,
      precip_mm: 0,
      observation_time: "2026-05-02T14:00",
      is_raining: false,
      is_daylight: true,
      is_hot: false,
      is_cold: false,
      is_windy: false,
      is_clear: false,
      forecast_tomorrow_condition: "Slight rain",
      forecast_tomorrow_max_c: 14,
      forecast_tomorrow_min_c: 9,
      forecast_tomorrow_precip_chance_pct: 70,
      forecast_tomorrow_precip_mm: 3.2,
      forecast_days: [
        { date: "2026-05-03", condition: "Slight rain", max_c: 14, min_c: 9, precip_chance_pct: 70, precip_mm: 3.2 },
        expect.objectContaining({ date: "2026-05-04", max_c: expect.any(Number) }),
        expect.objectContaining({ date: "2026-05-05" }),
      ],
      source: "sample",
    })
  })

  test.each([
    [undefined, 3],
    [1, 1],
    [7, 7],
  ])("[CA7] with `days` %j, it returns %i days of forecast", async (days, count) => {
    const args: ToolArgs = { location: "Oslo", ...(days === undefined ? {} : { days }) }
    const result = await sample.execute(args, createContext())
    expect(result).toMatchObject({ forecast_days: expect.objectContaining({ length: count }) })
    expect(isWeatherPayload(result)).toBe(true)
  })

  test.each([2.9, 0, 99, "5", null])("[TO6] [TO12] `days` %j is refused", async (days) => {
    const result = await sample.execute({ location: "Oslo", days }, createContext({ card: "weather_1" }))
    expect(result).toMatchObject({ code: "tool_arguments", details: expect.stringContaining('"/days"') })
  })

  test("[TO5] with a tag, it returns the same data as JSON, a blank line, and the trailer that cues this tag", async () => {
    const result = await sample.execute({ location: "London" }, createContext({ card: "weather_2" }))
    if (typeof result !== "string") throw new Error("not a string")
    expect(resolveCardTag("weather", 2, result)).toBe("weather_2")
    expect(resolveCardTag("weather", 1, result)).toBeNull()
    expect(JSON.parse(extractResultData({ name: "weather", result }))).toEqual(await payloadOf("London"))
  })

  test.each<[string, ToolArgs]>([
    ["missing", {}],
    ["a number", { location: 7 }],
    ["null", { location: null }],
    ["blank", { location: " \n " }],
    ["too long", { location: "x".repeat(121) }],
  ])("[TO6] a location that is %s is an error without a trailer", async (_name, args) => {
    const result = await sample.execute(args, createContext({ card: "weather_1" }))
    const details = expect.stringContaining("location")
    expect(result).toEqual({ error: expect.any(String), details, code: "tool_arguments" })
  })

  test("[TO6] a source that throws or never responds causes an error in time", async () => {
    const thrown = await createWeatherTool({ fetchWeather: () => Promise.reject(new Error("boom")) }).execute(
      { location: "Rome" },
      createContext(),
    )
    expect(thrown).toEqual({ error: "The weather service failed.", details: "boom" })
    const hung = await createWeatherTool({ fetchWeather: () => new Promise(() => {}) }, 50).execute(
      { location: "Rome" },
      createContext(),
    )
    expect(hung).toEqual({ error: "The weather service took too long.", details: "No response within 0.05 s." })
  })

  test("[TO6] an unknown WEATHER_SOURCE fails each call; sample data is never returned as real", async () => {
    const tool = createWeatherTool(createWeatherSource({ WEATHER_SOURCE: "opn-meteo" }))
    const result = await tool.execute({ location: "Rome" }, createContext({ card: "weather_1" }))
    expect(result).toMatchObject({ details: expect.stringContaining("opn-meteo") })
  })
})

describe("the sample source", () => {
  test("[TO7] is the same for the same location and time, and is marked as a sample", async () => {
    const { location: _, ...lower } = await payloadOf("springfield")
    expect(await payloadOf("Springfield")).toEqual({ ...lower, location: "Springfield" })
    expect((await payloadOf("Springfield")).source).toBe("sample")
  })

  test.each([
    ["london, uk", "London, GB"],
    ["Paris, France", "Paris, FR"],
    ["sao paulo", "São Paulo, BR"],
    ["NYC", "New York, US"],
    ["London, Ontario", "London, Ontario"],
    ["東京", "東京"],
  ])("[TO7] finds %s as %s", async (place, shown) => {
    expect((await payloadOf(place)).location).toBe(shown)
  })

  test.each(["Atlantis", "nowhereville", "Shangri-La", "x1", "<b>", "12345", "!"])(
    "[TO7] %s doesn't exist",
    async (location) => {
      const result = await sample.execute({ location }, createContext({ card: "weather_1" }))
      expect(result).toEqual({ error: `There is no place called "${location}".`, details: expect.any(String) })
    },
  )

  test("[TO7] every city has a valid payload at every hour of the sample days, and these days include every kind of sky, and nights", async () => {
    const conditions = new Set<string>()
    let nights = 0
    for (const month of [0, 3, 6, 9]) {
      for (const hour of [0, 8, 16]) {
        for (const { name } of SAMPLE_CITIES) {
          const payload = await payloadOf(name, Date.UTC(2026, month, 15, hour))
          conditions.add(payload.condition.toLowerCase())
          if (!payload.is_daylight) nights += 1
        }
      }
    }
    for (const word of ["clear", "cloudy", "overcast", "rain", "snow", "fog", "thunderstorm"]) {
      expect(
        [...conditions].some((condition) => condition.includes(word)),
        word,
      ).toBe(true)
    }
    expect(nights).toBeGreaterThan(100)
  })

  test("[TO7] day and night follow the position of the sun at the location", async () => {
    expect((await payloadOf("Tokyo")).is_daylight).toBe(false)
    expect((await payloadOf("London")).is_daylight).toBe(true)
    expect((await payloadOf("Tokyo")).observation_time).toBe("2026-05-02T22:00")
  })
})

describe("Open-Meteo", () => {
  test("[TO8] geocodes the place and then requests the forecast, with the parameters of the public API", async () => {
    const { tool, paths } = upstreamTool("ok")
    const result = await tool.execute({ location: "Berlin" }, createContext())
    expect(result).toMatchObject({
      location: "Berlin, DE",
      condition: "Slight rain",
      temperature_c: 12.4,
      temperature_f: 54.4,
      visibility_km: 18.5,
      uv_index: null,
      precip_mm: 0.3,
      observation_time: "2026-05-02T14:15",
      is_raining: true,
      is_windy: true,
      forecast_tomorrow_condition: "Overcast",
      forecast_tomorrow_max_c: 14,
      forecast_tomorrow_precip_chance_pct: 70,
      forecast_days: [
        { date: "2026-05-03", condition: "Overcast", max_c: 14, min_c: 9, precip_chance_pct: 70, precip_mm: 3.2 },
        { date: "2026-05-04", condition: "Clear sky", max_c: 15.5, min_c: 9.5, precip_chance_pct: 0, precip_mm: 0 },
        {
          date: "2026-05-05",
          condition: "Light rain showers",
          max_c: 12,
          min_c: 8,
          precip_chance_pct: 60,
          precip_mm: 2.1,
        },
      ],
      source: "open-meteo",
    })
    expect(isWeatherPayload(result)).toBe(true)
    const [search, forecast] = (await paths()).map((path) => new URL(path, "http://upstream"))
    expect(Object.fromEntries(search?.searchParams ?? [])).toEqual({
      name: "Berlin",
      count: "1",
      language: "en",
      format: "json",
    })
    expect(Object.fromEntries(forecast?.searchParams ?? [])).toEqual({
      latitude: "52.52437",
      longitude: "13.41053",
      current:
        "temperature_2m,apparent_temperature,relative_humidity_2m,wind_speed_10m,wind_direction_10m,precipitation,weather_code,is_day,visibility,uv_index",
      daily: "weather_code,temperature_2m_max,temperature_2m_min,precipitation_probability_max,precipitation_sum",
      timezone: "auto",
      forecast_days: "8",
    })
  })

  test("[TO8] a country or state after the comma selects among places with the same name", async () => {
    const { tool } = upstreamTool("ok")
    expect(await tool.execute({ location: "Berlin, US" }, createContext())).toMatchObject({ location: "Berlin, US" })
    expect(await tool.execute({ location: "Berlin, new hampshire" }, createContext())).toMatchObject({
      location: "Berlin, US",
    })
    expect(await tool.execute({ location: "Berlin, Germany" }, createContext())).toMatchObject({
      location: "Berlin, DE",
    })
  })

  test.each([
    ["not-found", 'There is no place called "Berlin".'],
    ["500", "The weather service failed."],
    ["forecast-500", "The weather service failed."],
    ["redirect", "The weather service failed."],
    ["reset", "The weather service failed."],
    ["slow", "The weather service took too long."],
    ["slow-forecast", "The weather service took too long."],
    ["malformed", "The weather service's response could not be read."],
    ["wrong-shape", "The weather service's response could not be read."],
    ["one-day", "The weather service's response could not be read."],
    ["huge", "The weather service's response could not be read."],
  ])("[TO6] %s is an error without a trailer, in time", async (scenario, error) => {
    const { tool } = upstreamTool(scenario, scenario.startsWith("slow") ? 300 : PATIENT_MS)
    const result = await tool.execute({ location: "Berlin" }, createContext({ card: "weather_1" }))
    expect(result).toEqual({ error, details: expect.any(String) })
    expect(JSON.stringify(result)).not.toContain("127.0.0.1")
  })

  test("[TO6] a host that doesn't respond causes an error in time", async () => {
    const nowhere = { forecastUrl: "http://127.0.0.1:9", geocodingUrl: "http://127.0.0.1:9", cache: memoryCache() }
    const result = await createWeatherTool(createOpenMeteoSource(nowhere)).execute(
      { location: "Berlin" },
      createContext(),
    )
    expect(result).toMatchObject({ error: "The weather service failed." })
  })

  test("[TO6] a cancellation ends the call at once and closes the connection", async () => {
    const { tool, run } = upstreamTool("slow", PATIENT_MS)
    const abort = new AbortController()
    const ended = tool.execute({ location: "Berlin" }, createContext({ signal: abort.signal }))
    await expect.poll(async () => (await readUpstream(env, run)).length, { timeout: 10_000 }).toBe(1)
    abort.abort()
    await ended
    await expect.poll(async () => (await readUpstream(env, run))[0]?.closed).toBe(true)
  })
})

describe("cached responses", () => {
  test("[TO9] a fresh response is reused without a request; an older one is requested again", async () => {
    const { tool, paths } = upstreamTool("ok")
    await tool.execute({ location: "Berlin" }, createContext())
    await tool.execute({ location: "berlin" }, createContext({ now: () => NOON + WEATHER_FRESH_MS - 1 }))
    expect(await paths()).toHaveLength(2)
    await tool.execute({ location: "Berlin" }, createContext({ now: () => NOON + WEATHER_FRESH_MS }))
    expect(await paths()).toHaveLength(4)
  })

  test("[TO9] for a day, a stale response replaces a failing upstream", async () => {
    const { tool } = upstreamTool("once")
    const first = await tool.execute({ location: "Berlin" }, createContext())
    const runLater = (ms: number) => tool.execute({ location: "Berlin" }, createContext({ now: () => NOON + ms }))
    expect(await runLater(30 * MINUTE)).toEqual(first)
    expect(await runLater(WEATHER_STALE_MS - 1)).toEqual(first)
    expect(await runLater(WEATHER_STALE_MS)).toMatchObject({ error: "The weather service failed." })
  })

  test("[TO9] a response from the future isn't used", async () => {
    const { tool, paths } = upstreamTool("ok")
    await tool.execute({ location: "Berlin" }, createContext())
    await tool.execute({ location: "Berlin" }, createContext({ now: () => NOON - MINUTE }))
    expect(await paths()).toHaveLength(4)
  })

  test("[TO9] the platform's cache keeps responses across sources", async () => {
    const url = `${upstreamUrl(env)}/weather/ok/platform`
    const createTool = () => createWeatherTool(createOpenMeteoSource({ forecastUrl: url, geocodingUrl: url }))
    const first = await createTool().execute({ location: "Berlin" }, createContext())
    expect(await createTool().execute({ location: "Berlin" }, createContext())).toEqual(first)
    expect(await readUpstream(env, "platform")).toHaveLength(2)
  })
})
