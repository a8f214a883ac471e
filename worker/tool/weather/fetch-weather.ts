/** fetch-weather.ts: fetches the weather for a place, within a time limit. Loaded on the first call. */

import type { WeatherPayload } from "../../../shared/card/weather-payload.ts"
import { fail, type Result } from "../../../shared/fault.ts"
import { rejectOnAbort } from "../../platform/abort.ts"
import { errorMessage } from "../../platform/log.ts"
import { startTimeout } from "../../platform/timeout.ts"
import type { ToolContext, ToolReturn } from "../tool.ts"
import type { WeatherFault, WeatherSource } from "./weather-source.ts"

/** Returns the result of a call: the weather with this many days of forecast, or an error. */
export async function fetchWeather(
  source: WeatherSource,
  location: string,
  days: number,
  ctx: ToolContext,
  timeoutMs: number,
): Promise<ToolReturn> {
  const fetched = await fetchWithTimeout(source, location, ctx, timeoutMs)
  if (!fetched.ok) return { error: describeFault(fetched.fault, location), details: fetched.fault.details }
  const forecast_days = fetched.value.forecast_days?.slice(0, days).map((day) => ({ ...day })) ?? []
  return { ...fetched.value, forecast_days }
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
  const timeout = startTimeout(ctx.signal, timeoutMs)
  try {
    return await rejectOnAbort(source.fetchWeather(location, ctx.now(), timeout.signal), timeout.signal)
  } catch (error) {
    if (!timeout.signal.aborted) return fail({ reason: "upstream_failed", details: errorMessage(error) })
    const details = ctx.signal.aborted ? "The call was stopped." : `No response within ${timeoutMs / 1000} s.`
    return fail({ reason: "upstream_timeout", details })
  } finally {
    timeout.clear()
  }
}
