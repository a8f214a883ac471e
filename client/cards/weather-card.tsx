/**
 * weather-card.tsx: the weather of one place, now and tomorrow (seed 000 §7.3).
 *
 * payload → guard → CARD
 * Every figure comes from the payload; the synthesis stands below, visibly the model's words.
 */

import type { VNode } from "preact"
import {
  selectForecastIcon,
  parseWeatherPayload,
  selectWeatherIcon,
  type WeatherPayload,
} from "../../shared/card/weather-payload.ts"
import { Markdown } from "../markdown/markdown.tsx"
import { useCountUp, useEntrance } from "./card-motion.ts"
import type { CardContent } from "./card-registry.ts"
import { SkyIcon } from "./sky-icon.tsx"

export function renderWeatherCard({ payload, synthesis, isFresh: fresh }: CardContent): VNode | null {
  const weather = parseWeatherPayload(payload)
  return weather === null ? null : <WeatherCard weather={weather} synthesis={synthesis} isFresh={fresh} />
}

interface WeatherCardProps {
  readonly weather: WeatherPayload
  readonly synthesis: string
  readonly isFresh: boolean
}

function WeatherCard({ weather, synthesis, isFresh: fresh }: WeatherCardProps): VNode {
  const ref = useEntrance(fresh)
  const temperature = useCountUp(weather.temperature_c, fresh)
  const time = parseObservedTime(weather.observation_time)
  return (
    <section class="card weather" ref={ref} aria-label={`Weather in ${weather.location}`}>
      <header>
        <h3>{weather.location}</h3>
        {weather.source === "sample" && <span class="sample">Sample data</span>}
        {time !== null && <time dateTime={weather.observation_time}>{time}</time>}
      </header>
      <div class="now">
        <SkyIcon icon={selectWeatherIcon(weather)} />
        <p class="degrees">
          {formatDegrees(temperature)}
          <small>C</small>
        </p>
        <div class="facts">
          <p class="condition">{weather.condition}</p>
          <p>
            Feels {formatDegrees(weather.feels_like_c)} ·{" "}
            <WeatherFact name="Humidity" value={`${Math.round(weather.humidity_pct)}%`} /> ·{" "}
            <WeatherFact name="Wind" value={`${Math.round(weather.wind_kmh)} km/h ${weather.wind_direction}`.trim()} />
          </p>
        </div>
      </div>
      <TomorrowForecast weather={weather} />
      {synthesis !== "" && (
        <div class="synthesis">
          <Markdown text={synthesis} />
        </div>
      )}
    </section>
  )
}

/** A figure whose name is clear to the eye from its unit, and told to the ear. */
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
  const details = [condition, chance === null ? null : `${Math.round(chance)}%`].filter((word) => word !== null)
  return (
    <p class="tomorrow">
      <span>Tomorrow</span>
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

/** Whole degrees, with a true minus, and no minus zero. */
export function formatDegrees(value: number): string {
  const whole = Math.round(value)
  return `${whole < 0 ? "−" : ""}${Math.abs(whole)}°`
}

/** "2026-05-02T14:00" → "14:00"; the place's own time, so nothing is converted. */
export function parseObservedTime(observed: string): string | null {
  return /T(\d{2}:\d{2})/.exec(observed)?.[1] ?? null
}
