/**
 * upstream-weather.ts: a server on loopback that imitates the two endpoints of Open-Meteo and their failures.
 */

import type { Call } from "./upstreams.ts"

/** The places found, by population, which is the order in which the service returns them. */
const PLACES = [
  { id: 2950159, name: "Berlin", latitude: 52.52437, longitude: 13.41053, country_code: "DE", country: "Germany" },
  {
    id: 5083330,
    name: "Berlin",
    latitude: 44.46867,
    longitude: -71.18508,
    country_code: "US",
    country: "United States",
    admin1: "New Hampshire",
  },
]

const FORECAST = {
  latitude: 52.52,
  longitude: 13.419998,
  generationtime_ms: 0.11,
  utc_offset_seconds: 7200,
  timezone: "Europe/Berlin",
  timezone_abbreviation: "GMT+2",
  elevation: 38,
  current_units: { time: "iso8601", temperature_2m: "°C", wind_speed_10m: "km/h", visibility: "m" },
  current: {
    time: "2026-05-02T14:15",
    interval: 900,
    temperature_2m: 12.44,
    apparent_temperature: 10.1,
    relative_humidity_2m: 78,
    wind_speed_10m: 34.2,
    wind_direction_10m: 248,
    precipitation: 0.3,
    weather_code: 61,
    is_day: 1,
    visibility: 18_460,
    uv_index: null,
  },
  daily: {
    time: Array.from({ length: 8 }, (_, i) => `2026-05-0${i + 2}`),
    weather_code: [61, 3, 0, 80, null, 71, 95, 2],
    temperature_2m_max: [13.1, 14, 15.5, 12, 11, 10, 9, 8],
    temperature_2m_min: [8.2, 9, 9.5, 8, 7, -1.5, 5, 4],
    precipitation_probability_max: [88, 70, 0, 60, null, 50, 40, 30],
    precipitation_sum: [4.4, 3.2, 0, 2.1, 0, 1, 0, 0],
  },
}

export function playWeather(call: Call): void {
  const isSearch = call.path.startsWith("/v1/search?")
  if (!isSearch && !call.path.startsWith("/v1/forecast?")) return void call.reply.writeHead(404).end()
  switch (call.scenario) {
    case "ok":
      return sendJson(call, isSearch ? { results: PLACES } : FORECAST)
    case "once":
      // The first reply is valid, and later replies are errors.
      return call.before === 0 ? sendJson(call, isSearch ? { results: PLACES } : FORECAST) : sendFailure(call)
    case "not-found":
      return sendJson(call, { generationtime_ms: 0.4 })
    case "500":
      return sendFailure(call)
    case "forecast-500":
      return isSearch ? sendJson(call, { results: PLACES }) : sendFailure(call)
    case "slow":
      return
    case "slow-forecast":
      return isSearch ? sendJson(call, { results: PLACES }) : undefined
    case "malformed":
      return void call.reply.end('{"results": [{"name": ')
    case "wrong-shape":
      return sendJson(call, isSearch ? { results: PLACES } : { ...FORECAST, current: { time: "2026-05-02T14:15" } })
    case "one-day":
      return sendJson(
        call,
        isSearch ? { results: PLACES } : { ...FORECAST, daily: { ...FORECAST.daily, weather_code: [61] } },
      )
    case "huge":
      return sendJson(call, { results: PLACES, padding: "x".repeat(1_000_000) })
    case "redirect":
      return void call.reply.writeHead(302, { location: "/weather/ok/redirected/v1/search" }).end()
    case "reset":
      call.reply.writeHead(200, { "content-type": "application/json", "content-length": "1000" })
      call.reply.write('{"results": [', () => call.reply.destroy())
      return
  }
  call.reply.writeHead(404).end()
}

function sendJson({ reply }: Call, value: object): void {
  reply.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(value))
}

function sendFailure({ reply }: Call): void {
  reply.writeHead(500, { "content-type": "application/json" }).end('{"error":true,"reason":"Internal error"}')
}
