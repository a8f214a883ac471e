/**
 * weather-card.tsx: the current weather and tomorrow's forecast for one place.
 *
 * Every figure comes from the payload. The synthesis below it is marked as the model's text. SPEC CA3.
 */

import type { VNode } from "preact"
import {
  selectForecastIcon,
  parseWeatherPayload,
  selectWeatherIcon,
  type WeatherPayload,
} from "../../shared/card/weather-payload.ts"
import { Markdown } from "../markdown/markdown.tsx"
import { cardText } from "../words/transcript-text.ts"
import { useCountUp, useEntrance } from "./card-motion.ts"
import type { CardContent } from "./card-registry.ts"
import { SkyIcon } from "./sky-icon.tsx"

export function renderWeatherCard({ payload, synthesis, isFresh }: CardContent): VNode | null {
  const weather = parseWeatherPayload(payload)
  return weather === null ? null : <WeatherCard weather={weather} synthesis={synthesis} isFresh={isFresh} />
}

interface WeatherCardProps {
  readonly weather: WeatherPayload
  readonly synthesis: string
  readonly isFresh: boolean
}

function WeatherCard({ weather, synthesis, isFresh }: WeatherCardProps): VNode {
  const ref = useEntrance(isFresh)
  const time = parseObservedTime(weather.observation_time)
  return (
    <section class="card weather" ref={ref} aria-label={cardText.weatherIn(weather.location)}>
      <header>
        <h3>{weather.location}</h3>
        {weather.source === "sample" && <span class="sample">{cardText.sampleData}</span>}
        {time !== null && <time dateTime={weather.observation_time}>{time}</time>}
      </header>
      <CurrentWeather weather={weather} isFresh={isFresh} />
      <TomorrowForecast weather={weather} />
      {synthesis !== "" && (
        <div class="synthesis">
          <Markdown text={synthesis} />
        </div>
      )}
    </section>
  )
}

function CurrentWeather({ weather, isFresh }: Pick<WeatherCardProps, "weather" | "isFresh">): VNode {
  const temperature = useCountUp(weather.temperature_c, isFresh)
  const wind = `${Math.round(weather.wind_kmh)} km/h ${weather.wind_direction}`.trim()
  return (
    <div class="now">
      <SkyIcon icon={selectWeatherIcon(weather)} />
      <p class="degrees">
        {formatDegrees(temperature)}
        <small>C</small>
      </p>
      <div class="facts">
        <p class="condition">{weather.condition}</p>
        <p>
          {cardText.feelsLike(formatDegrees(weather.feels_like_c))} ·{" "}
          <WeatherFact name={cardText.humidity} value={`${Math.round(weather.humidity_pct)}%`} /> ·{" "}
          <WeatherFact name={cardText.wind} value={wind} />
        </p>
      </div>
    </div>
  )
}

/** A figure without a visible name, because its unit makes it clear. Screen readers and a tooltip get the name. */
function WeatherFact({ name, value }: { readonly name: string; readonly value: string }): VNode {
  return (
    <span title={name}>
      <span class="unseen">{name} </span>
      {value}
    </span>
  )
}

function TomorrowForecast({ weather }: { readonly weather: WeatherPayload }): VNode | null {
  const condition = weather.forecast_tomorrow_condition
  const max = weather.forecast_tomorrow_max_c
  const min = weather.forecast_tomorrow_min_c
  const chance = weather.forecast_tomorrow_precip_chance_pct
  if (condition === null && max === null && min === null) return null
  const details = [condition, chance === null ? null : `${Math.round(chance)}%`].filter((detail) => detail !== null)
  return (
    <p class="tomorrow">
      <span>{cardText.tomorrow}</span>
      {condition !== null && <SkyIcon icon={selectForecastIcon(condition)} />}
      {(max !== null || min !== null) && (
        <b>
          {max === null ? "–" : formatDegrees(max)}
          <small> / {min === null ? "–" : formatDegrees(min)}</small>
        </b>
      )}
      <span>{details.join(" · ")}</span>
    </p>
  )
}

/** Whole degrees, with a minus sign (U+2212), and 0° instead of −0°. */
export function formatDegrees(value: number): string {
  const whole = Math.round(value)
  return `${whole < 0 ? "−" : ""}${Math.abs(whole)}°`
}

/** "2026-05-02T14:00" → "14:00". It is local time at the place, so it isn't converted. */
export function parseObservedTime(observed: string): string | null {
  return /T(\d{2}:\d{2})/.exec(observed)?.[1] ?? null
}
