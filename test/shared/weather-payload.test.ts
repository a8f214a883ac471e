/** weather-payload.test.ts: tests the type guard for the weather payload, and how the icon is chosen. */

import { describe, expect, test } from "vitest"
import {
  selectForecastIcon,
  isWeatherPayload,
  parseWeatherPayload,
  type SkyState,
  type WeatherIcon,
  selectWeatherIcon,
} from "../../shared/card/weather-payload.ts"

/** A payload with every field. */
const FULL = {
  location: "London, GB",
  condition: "Partly cloudy",
  temperature_c: 12.4,
  temperature_f: 54.3,
  feels_like_c: 10.1,
  humidity_pct: 78,
  wind_kmh: 14.2,
  wind_direction: "WSW",
  visibility_km: null,
  uv_index: null,
  precip_mm: 0.0,
  observation_time: "2026-05-02T14:00",
  is_raining: false,
  is_daylight: true,
  is_hot: false,
  is_cold: false,
  is_windy: false,
  is_clear: false,
  forecast_tomorrow_condition: "Slight rain",
  forecast_tomorrow_max_c: 14.0,
  forecast_tomorrow_min_c: 9.0,
  forecast_tomorrow_precip_chance_pct: 70,
  forecast_tomorrow_precip_mm: 3.2,
}

const NULLABLE = Object.keys(FULL).filter((name) => /^(visibility|uv|forecast)/.test(name))

describe("the guard", () => {
  test("[CA1] the original payload passes, with and without a source, and with unknown fields", () => {
    expect(isWeatherPayload(FULL)).toBe(true)
    expect(isWeatherPayload({ ...FULL, source: "sample" })).toBe(true)
    expect(isWeatherPayload({ ...FULL, source: "open-meteo", moon: "full" })).toBe(true)
    expect(parseWeatherPayload(FULL)).toEqual(FULL)
  })

  test.each(Object.keys(FULL))("[CA1] it fails without %s", (name) => {
    const { [name as keyof typeof FULL]: _, ...rest } = FULL
    expect(isWeatherPayload(rest)).toBe(false)
    expect(isWeatherPayload(Object.setPrototypeOf(rest, FULL))).toBe(false)
  })

  test.each(Object.keys(FULL))("[CA1] it fails if %s has the wrong type", (name) => {
    for (const wrong of [{}, [], Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(isWeatherPayload({ ...FULL, [name]: wrong })).toBe(false)
    }
    expect(isWeatherPayload({ ...FULL, [name]: null })).toBe(NULLABLE.includes(name))
  })

  test.each([null, undefined, 7, "London", [], [FULL], {}, { error: "no", details: "no" }])(
    "[CA1] it fails for %j",
    (value) => {
      expect(isWeatherPayload(value)).toBe(false)
      if (value !== undefined) expect(parseWeatherPayload(value)).toBeNull()
    },
  )

  const DAY = { date: "2026-05-03", condition: "Rain", max_c: 14, min_c: null, precip_chance_pct: 70, precip_mm: 0 }

  test("[CA7] it accepts up to seven days of forecast", () => {
    expect(isWeatherPayload({ ...FULL, forecast_days: [] })).toBe(true)
    expect(isWeatherPayload({ ...FULL, forecast_days: Array.from({ length: 7 }, () => DAY) })).toBe(true)
    expect(isWeatherPayload({ ...FULL, forecast_days: [{ ...DAY, condition: null, moon: 1 }] })).toBe(true)
    expect(isWeatherPayload({ ...FULL, forecast_days: Array.from({ length: 8 }, () => DAY) })).toBe(false)
  })

  test.each<unknown>([
    ...["", "tomorrow", "2026-13-01", "2026-05-03T00:00", 7, null].map((date) => [{ ...DAY, date }]),
    ...[Number.NaN, "14", undefined].map((max_c) => [{ ...DAY, max_c }]),
    [{ ...DAY, condition: 7 }],
    [null],
    [[]],
    [DAY, 1],
    null,
    { 0: DAY, length: 1 },
    "days",
  ])("[CA7] it fails with the forecast days %j", (forecast_days) => {
    expect(isWeatherPayload({ ...FULL, forecast_days })).toBe(false)
  })

  test("[CA1] it fails with an unknown source", () => {
    expect(isWeatherPayload({ ...FULL, source: "my guess" })).toBe(false)
  })
})

describe("the icon", () => {
  const day: SkyState = { condition: "", is_daylight: true, is_raining: false, is_clear: false }

  test.each<[string, WeatherIcon, WeatherIcon]>([
    ["Clear sky", "sunny", "clear_night"],
    ["Mainly clear", "sunny", "clear_night"],
    ["Sunny", "sunny", "clear_night"],
    ["Partly cloudy", "partly_cloudy", "partly_cloudy_night"],
    ["Overcast", "cloudy", "cloudy"],
    ["Cloudy", "cloudy", "cloudy"],
    ["Fog", "fog", "fog"],
    ["Rime fog", "fog", "fog"],
    ["Light drizzle", "rain", "rain_night"],
    ["Slight rain", "rain", "rain_night"],
    ["Freezing rain", "rain", "rain_night"],
    ["Violent rain showers", "rain", "rain_night"],
    ["Heavy snow", "snow", "snow"],
    ["Light snow showers", "snow", "snow"],
    ["Thunderstorm", "storm", "storm"],
    ["Thunderstorm with hail", "storm", "storm"],
    ["THUNDERY SHOWERS", "storm", "storm"],
    ["Unknown", "cloudy", "cloudy"],
    ["", "cloudy", "cloudy"],
  ])("[CA2] %s is %s, and %s at night", (condition, byDay, byNight) => {
    expect(selectWeatherIcon({ ...day, condition })).toBe(byDay)
    expect(selectWeatherIcon({ ...day, condition, is_daylight: false })).toBe(byNight)
    expect(selectForecastIcon(condition)).toBe(byDay)
  })

  test("[CA2] falling rain takes precedence over clouds, but not over snow, storm or fog", () => {
    const raining = { ...day, is_raining: true }
    expect(selectWeatherIcon({ ...raining, condition: "Overcast" })).toBe("rain")
    expect(selectWeatherIcon({ ...raining, condition: "Thunderstorm" })).toBe("storm")
    expect(selectWeatherIcon({ ...raining, condition: "Snow" })).toBe("snow")
    expect(selectWeatherIcon({ ...raining, condition: "Fog" })).toBe("fog")
  })

  test("[CA2] the flags determine the icon for an unknown condition", () => {
    expect(selectWeatherIcon({ ...day, condition: "Heiter", is_clear: true })).toBe("sunny")
    expect(selectWeatherIcon({ ...day, condition: "Regen", is_raining: true })).toBe("rain")
  })
})
