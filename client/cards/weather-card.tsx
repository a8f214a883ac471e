/**
 * weather-card.tsx: the current weather and the forecast for one place.
 *
 * Every number comes from the payload. The model's synthesis is shown below the numbers and visually set apart, unless
 * it only repeats the numbers. SPEC SG3, CA9.
 */

import type { VNode } from "preact"
import { repeatsFigures } from "../../shared/card/repeated-text.ts"
import {
  selectForecastIcon,
  parseWeatherPayload,
  selectWeatherIcon,
  type WeatherDay,
  type WeatherPayload,
} from "../../shared/card/weather-payload.ts"
import { formatCount } from "../words/format/number-format.ts"
import { formatDate } from "../words/format/date-format.ts"
import { cardText } from "../words/parts/card-text.ts"
import { useEntrance } from "./card-motion.ts"
import type { CardContent } from "./card-registry.tsx"
import { SkyIcon } from "./sky-icon.tsx"
import { chooseUnit, temperatureUnit } from "./temperature-unit.ts"

const KM_PER_MILE = 1.609344

export function renderCard({ payload, synthesis, isFresh }: CardContent, text: VNode | null): VNode | null {
  const weather = parseWeatherPayload(payload)
  if (weather === null) return null
  return <WeatherCard weather={weather} synthesis={synthesis} text={text} isFresh={isFresh} />
}

interface WeatherCardProps {
  readonly weather: WeatherPayload
  readonly synthesis: string
  readonly text: VNode | null
  readonly isFresh: boolean
}

function WeatherCard({ weather, synthesis, text, isFresh }: WeatherCardProps): VNode {
  const ref = useEntrance(isFresh)
  const time = formatObservedTime(weather.observation_time)
  return (
    <section class="card weather" ref={ref} aria-label={cardText.weatherIn(weather.location)}>
      <header>
        <p class="place" dir="auto">
          {weather.location}
        </p>
        {weather.source === "sample" && <span class="sample">{cardText.sampleData}</span>}
        {time !== null && <time dateTime={weather.observation_time}>{time}</time>}
      </header>
      <CurrentWeather weather={weather} />
      <Forecast weather={weather} />
      {text !== null && (
        <div class="synthesis" data-repeated={repeatsWeather(synthesis, weather) ? "" : undefined}>
          {text}
        </div>
      )}
    </section>
  )
}

/** Returns whether the card already shows everything that the synthesis says. SPEC CA9. */
function repeatsWeather(synthesis: string, weather: WeatherPayload): boolean {
  const { temperature_c, temperature_f, feels_like_c, humidity_pct, wind_kmh, forecast_days = [] } = weather
  const { forecast_tomorrow_max_c: max, forecast_tomorrow_min_c: min } = weather
  const figures = [temperature_c, temperature_f, feels_like_c, humidity_pct, wind_kmh, max, min]
  figures.push(weather.forecast_tomorrow_precip_chance_pct)
  for (const day of forecast_days.slice(0, SHOWN_DAYS)) figures.push(day.max_c, day.min_c, day.precip_chance_pct)
  return repeatsFigures(synthesis, figures)
}

function CurrentWeather({ weather }: Pick<WeatherCardProps, "weather">): VNode {
  const current = temperatureUnit.value === "F" ? weather.temperature_f : weather.temperature_c
  return (
    <div class="now">
      <SkyIcon icon={selectWeatherIcon(weather)} />
      <p class="degrees">
        {formatDegrees(current)}
        <UnitSwitch />
      </p>
      <div class="facts">
        {/* Isolated, so that it begins where the line below it begins, in whichever direction the page runs. */}
        <p class="condition">
          <bdi>{weather.condition}</bdi>
        </p>
        <p>
          {cardText.feelsLike(formatCelsius(weather.feels_like_c))} ·{" "}
          <WeatherFact name={cardText.humidity} value={formatPercent(weather.humidity_pct)} /> ·{" "}
          <WeatherFact name={cardText.wind} value={formatWind(weather)} />
        </p>
      </div>
    </div>
  )
}

/** Returns the wind: in km/h beside °C, and in mph beside °F. No-break spaces keep it on one line. */
function formatWind({ wind_kmh, wind_direction }: WeatherPayload): string {
  const [speed, unit] =
    temperatureUnit.value === "F" ? [wind_kmh / KM_PER_MILE, "mile-per-hour"] : [wind_kmh, "kilometer-per-hour"]
  const text = formatCount(Math.round(speed), { style: "unit", unit })
  return `${text} ${wind_direction}`.trim().replaceAll(/\s/g, "\u00a0")
}

/** A button that shows the unit. Pressing it changes the unit in all cards. */
function UnitSwitch(): VNode {
  const unit = temperatureUnit.value
  const other = unit === "C" ? "F" : "C"
  return (
    <button
      type="button"
      class="unit"
      title={cardText.showUnit(other)}
      aria-label={`${unit}. ${cardText.showUnit(other)}`}
      onClick={() => chooseUnit(other)}
    >
      {unit}
      <span aria-hidden="true" data-other={other} />
    </button>
  )
}

/** A value whose unit makes its meaning clear. Its name appears only in the tooltip and for screen readers. */
function WeatherFact({ name, value }: { readonly name: string; readonly value: string }): VNode {
  return (
    <span title={name}>
      <span class="visually-hidden">{name} </span>
      {/* Isolated, so that the dots stay between the values in right-to-left text. */}
      <bdi>{value}</bdi>
    </span>
  )
}

/** The number of forecast days that the card shows. */
const SHOWN_DAYS = 3

function Forecast({ weather }: { readonly weather: WeatherPayload }): VNode | null {
  const days = (weather.forecast_days ?? []).slice(0, SHOWN_DAYS)
  if (days.length === 0) return <TomorrowForecast weather={weather} />
  return (
    <ul class="days">
      {days.map((day) => (
        <DayForecast key={day.date} day={day} name={formatDay(day.date, weather.observation_time)} />
      ))}
    </ul>
  )
}

function DayForecast({ day, name }: { readonly day: WeatherDay; readonly name: string }): VNode {
  const { condition, precip_chance_pct: chance } = day
  return (
    <li title={condition ?? undefined}>
      <span>{name}</span>
      {condition !== null && <SkyIcon icon={selectForecastIcon(condition)} />}
      {condition !== null && <span class="visually-hidden">{condition} </span>}
      <DegreeRange max={day.max_c} min={day.min_c} />
      {chance !== null && (
        <small>
          <WeatherFact name={cardText.precipitation} value={formatPercent(chance)} />
        </small>
      )}
    </li>
  )
}

/** The forecast of a payload that has only tomorrow's fields. */
function TomorrowForecast({ weather }: { readonly weather: WeatherPayload }): VNode | null {
  const condition = weather.forecast_tomorrow_condition
  const max = weather.forecast_tomorrow_max_c
  const min = weather.forecast_tomorrow_min_c
  const chance = weather.forecast_tomorrow_precip_chance_pct
  if (condition === null && max === null && min === null) return null
  const details = [condition, chance === null ? null : formatPercent(chance)].filter((detail) => detail !== null)
  return (
    <p class="tomorrow">
      <span>{cardText.tomorrow}</span>
      {condition !== null && <SkyIcon icon={selectForecastIcon(condition)} />}
      <DegreeRange max={max} min={min} />
      <span>{details.join(" · ")}</span>
    </p>
  )
}

function DegreeRange({ max, min }: { readonly max: number | null; readonly min: number | null }): VNode | null {
  if (max === null && min === null) return null
  return (
    <b>
      {max === null ? "–" : formatCelsius(max)}
      <small> / {min === null ? "–" : formatCelsius(min)}</small>
    </b>
  )
}

/**
 * Returns "Tomorrow" for the day after the observation, otherwise a short weekday such as "Mon". Both dates are local.
 */
function formatDay(date: string, observed: string): string {
  const days = (Date.parse(date) - Date.parse(observed.slice(0, 10))) / 86_400_000
  if (days === 1) return cardText.tomorrow
  return formatDate(date, { weekday: "short", timeZone: "UTC" })
}

function formatPercent(percent: number): string {
  return formatCount(percent / 100, { style: "percent" })
}

/** Formats a Celsius temperature in the unit that the user chose. */
function formatCelsius(celsius: number): string {
  return formatDegrees(temperatureUnit.value === "F" ? (celsius * 9) / 5 + 32 : celsius)
}

/** Formats a temperature as whole degrees, with a minus sign (U+2212), and as 0° instead of −0°. */
export function formatDegrees(value: number): string {
  const whole = Math.round(value)
  return `${whole < 0 ? "−" : ""}${Math.abs(whole)}°`
}

/**
 * "2026-05-02T14:00" → "2:00 PM" or "14:00", depending on the reader's locale. The time is local to the place, so it
 * isn't converted.
 */
export function formatObservedTime(observed: string): string | null {
  const time = /T(\d{2}:\d{2})/.exec(observed)?.[1]
  if (time === undefined) return null
  return formatDate(`2000-01-01T${time}Z`, { hour: "numeric", minute: "2-digit", timeZone: "UTC" })
}
