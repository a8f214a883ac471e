/** cards.test.tsx: the cards that a transcript shows, especially the weather card. */

import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { loadCards, tagToToolName } from "../../client/cards/card-registry.tsx"
import { localeToUnit, readUnit, temperatureUnit } from "../../client/cards/temperature-unit.ts"
import { formatDegrees, formatObservedTime } from "../../client/cards/weather-card.tsx"
import { CONDITIONS, createCardSegment, createWeather } from "../support/page-fixtures/messages.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { createMessage as createStoredMessage, fold } from "../../shared/protocol/message.ts"
import type { TurnEvent } from "../../shared/protocol/event.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { delay } from "./dom.ts"
import { transcript } from "./render-transcript.tsx"
import { wireMessage } from "./fake-server.ts"

const answer = (segments: readonly Segment[], more: Partial<WireMessage> = {}) =>
  transcript([wireMessage("a", { status: "completed", segments, ...more })])

const kindsIn = (root: HTMLElement) =>
  [...root.querySelectorAll("[data-segment]")].map((element) => element.getAttribute("data-segment"))

beforeAll(loadCards)
beforeEach(() => {
  document.body.replaceChildren()
  vi.restoreAllMocks()
  temperatureUnit.value = "C"
})

describe("cards", () => {
  test("[CA3] the full tool name selects the card", () => {
    expect(tagToToolName("weather_1")).toBe("weather")
    expect(tagToToolName("web_search_12")).toBe("web_search")
    expect(tagToToolName("weather_map_1")).toBe("weather_map")
  })

  test("[CA3] an unknown card, or one with an invalid payload, falls back to its text", () => {
    const rich = (tag: string, payload: object, synthesis: string): Segment => ({
      type: "rich",
      tag,
      payload: { ...payload },
      synthesis,
    })
    const { root } = answer([
      rich("web_search_1", createWeather("Rain"), "**found**"),
      rich("weather_1", { temperature_c: 1 }, "so *it* is"),
      rich("weather_2", {}, ""),
    ])
    expect(kindsIn(root)).toEqual(["text", "text"])
    expect(root.textContent).toBe("foundso it is")
    expect(root.querySelector(".card")).toBe(null)
  })

  test("[PG11] a segment of an unknown kind shows its text", () => {
    const unknown = [
      { type: "hologram", content: "seen" },
      { type: "chart", title: "A chart" },
      { type: "void" },
    ] as unknown as Segment[]
    const { root } = answer(unknown)
    expect(root.textContent).toBe("seenA chart")
  })

  test("[CA6] the weather card shows the contents of its payload", () => {
    const { root } = answer([createCardSegment(createWeather("Partly cloudy", { source: "sample" }), "Take *care*.")])
    const shownText = root.querySelector(".card")?.textContent?.replace(/\s+/g, " ")
    expect(shownText).toBe(
      "London, GBSample data2:00 PM12°CPartly cloudyFeels like 10° · Humidity 78% · Wind 14 km/h WSWTomorrow14° / 9°Slight rain · 70%Take care.",
    )
    const live = answer([
      createCardSegment(
        createWeather("Rain", {
          source: "open-meteo",
          forecast_tomorrow_condition: null,
          forecast_tomorrow_max_c: null,
          forecast_tomorrow_min_c: null,
        }),
        "",
      ),
    ])
    expect(live.root.textContent).not.toContain("Sample")
    expect(live.root.textContent).not.toContain("Tomorrow")
    expect(live.root.querySelector(".synthesis")).toBe(null)
  })

  test("[CA8] the wind is in km/h beside °C, and in mph beside °F", async () => {
    const { root } = answer([createCardSegment(createWeather("Rain"), "")])
    const readFacts = () => root.querySelector(".facts")?.textContent?.replace(/\s+/g, " ")
    expect(readFacts()).toContain("Wind 14 km/h WSW")
    root.querySelector<HTMLElement>(".unit")?.click()
    await expect.poll(readFacts).toContain("Wind 9 mph WSW")
    temperatureUnit.value = "C"
  })

  test("[CA9] text that only repeats the card's content stays on the page, and is marked", () => {
    const readMark = (synthesis: string) =>
      answer([createCardSegment(createWeather("Rain"), synthesis)])
        .root.querySelector(".synthesis")
        ?.hasAttribute("data-repeated")
    expect(readMark("It is 12 °C in London.")).toBe(true)
    expect(readMark("It is 12 °C in London. Take care.")).toBe(false)
  })

  test("[SG16] an ephemeral row is rendered like any other row, including the call and the card that it cues", () => {
    const call = { call_id: "c1", name: "weather" } as const
    const data = JSON.stringify(createWeather("Rain"))
    const events: readonly TurnEvent[] = [
      { type: "tool_call", ...call, args: "{}" },
      { type: "tool_call_start", ...call, channel: "user", ordinal: 1, ephemeral: true },
      {
        type: "tool_result",
        ...call,
        status: "ok",
        result: `${data}\n\nUse <span id='weather_1'>…</span>.`,
        card: "weather_1",
        error: null,
      },
      { type: "text_delta", delta: "<span id='weather_1'>Wet.</span>" },
      { type: "end", status: "completed", reason: null, metrics: null },
    ]
    const empty = createStoredMessage({
      id: "a",
      role: "assistant",
      exchange_id: "u",
      timestamp: "2026-05-02T14:00:00Z",
    })
    const { root } = transcript([messageToWire(events.reduce(fold, empty))])
    expect(kindsIn(root)).toEqual(["tool", "rich"])
    expect(root.querySelector(".card .place")?.textContent).toBe("London, GB")
  })

  test("[CA7] the card shows a three-day forecast, with the weekdays in the location's time zone", () => {
    const days = Array.from({ length: 7 }, (_, i) => ({
      date: `2026-05-0${i + 3}`,
      condition: i === 2 ? null : "Snow",
      max_c: -i,
      min_c: i === 1 ? null : -9.6,
      precip_chance_pct: i === 2 ? null : 80.4,
      precip_mm: 1,
    }))
    const { root } = answer([createCardSegment(createWeather("Rain", { forecast_days: days }), "")])
    const shown = [...root.querySelectorAll(".days li")].map((day) => day.textContent)
    expect(shown).toEqual([
      "TomorrowSnow 0° / −10°Chance of precipitation 80%",
      "MonSnow −1° / –Chance of precipitation 80%",
      "Tue−2° / −10°",
    ])
    expect(root.querySelectorAll(".days .sky")).toHaveLength(2)
    expect(root.querySelector(".tomorrow")).toBe(null)
  })

  test("[CA8] the region in the language tag selects °C or °F", () => {
    const units = ["en-US", "es-PR", "en-GB", "de", "en", "fr-CA", "en-Latn-US-u-ca-gregory", "", "?"].map(localeToUnit)
    expect(units).toEqual(["F", "F", "C", "C", "C", "C", "F", "C", "C"])
  })

  test("[CA8] the unit switch changes all cards, and the browser stores the choice", async () => {
    const cards = [
      createWeather("Rain", { temperature_f: 54.3 }),
      createWeather("Snow", { temperature_c: -40, temperature_f: -40 }),
    ]
    const { root } = answer(cards.map((card) => createCardSegment(card, "")))
    const shown = () =>
      [...root.querySelectorAll(".degrees, .facts p:last-child, .tomorrow b")].map((p) => p.textContent)
    const celsius = shown()
    expect(celsius[0]).toBe("12°C")
    const button = root.querySelector<HTMLButtonElement>(".unit")
    expect(button?.getAttribute("aria-label")).toBe("C. Show temperatures in °F")
    button?.click()
    await delay()
    expect(shown()).toEqual([
      "54°F",
      expect.stringContaining("Feels like 50°"),
      "57° / 48°",
      "−40°F",
      expect.stringContaining("Feels like 50°"),
      "57° / 48°",
    ])
    expect([localStorage.getItem("cuecard.temperature-unit"), readUnit()]).toEqual(["F", "F"])
    root.querySelectorAll<HTMLButtonElement>(".unit")[1]?.click()
    await delay()
    expect([shown(), readUnit()]).toEqual([celsius, "C"])
  })

  test("[CA2] each kind of weather has its own icon, by day and by night", () => {
    const { root } = answer(
      CONDITIONS.map(([condition, is_daylight]) => createCardSegment(createWeather(condition, { is_daylight }), "")),
    )
    const icons = [...root.querySelectorAll(".now .sky")].map((sky) => [
      sky.getAttribute("data-icon"),
      sky.children.length,
    ])
    expect(new Set(icons.map(([icon]) => icon)).size).toBe(10)
    expect(icons.every(([, shapes]) => Number(shapes) >= 1)).toBe(true)
  })

  test("[CA6] degrees are whole numbers with a real minus sign, and never minus zero", () => {
    expect([12.4, -0.4, 0, -12.5, 21.5].map(formatDegrees)).toEqual(["12°", "0°", "0°", "−12°", "22°"])
    expect(formatObservedTime("2026-05-02T14:00")?.replace(/\s/, " ")).toBe("2:00 PM")
    expect(formatObservedTime("soon")).toBe(null)
  })
})
