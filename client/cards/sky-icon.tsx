/**
 * sky-icon.tsx: the ten weather icons, drawn on a 64 × 64 grid and coloured by CSS.
 *
 * The icons are hidden from screen readers, because the condition is written next to the icon.
 */

import type { ComponentChildren, VNode } from "preact"
import type { WeatherIcon } from "../../shared/card/weather-payload.ts"

const CLOUD = "M19 50a11 11 0 0 1-1.6-21.9A15 15 0 0 1 46.5 27 11.6 11.6 0 0 1 46 50z"
const HIGH_CLOUD = "M19 42a11 11 0 0 1-1.6-21.9A15 15 0 0 1 46.5 19 11.6 11.6 0 0 1 46 42z"
const SMALL_CLOUD = "M33 22a10 10 0 0 1 18.4-5.4A9 9 0 0 1 52.5 34H36z"
const RAYS = "M32 6v6M32 52v6M6 32h6M52 32h6M13.6 13.6l4.3 4.3M46.1 46.1l4.3 4.3M13.6 50.4l4.3-4.3M46.1 17.9l4.3-4.3"
const SMALL_RAYS = "M43 4v4M43 32v4M27 20h4M55 20h4M31.7 8.7l2.8 2.8M54.3 8.7l-2.8 2.8M54.3 31.3l-2.8-2.8"
const MOON = "M45 40.5A19 19 0 1 1 29.5 12.6a15.4 15.4 0 0 0 15.5 27.9z"
const SMALL_MOON = "M53 5.6A11 11 0 1 1 38.6 17.4 9.4 9.4 0 0 0 53 5.6z"
const DROPS = "M22 47l-3 7M32 47l-4.3 10M42 47l-3 7"
const BOLT = "M34 35l-9 13h6.5L28 60l12-15.5h-7L37.5 35z"
const STARS = "M49 14v6M46 17h6M54 27v4M52 29h4"

function renderShapes(icon: WeatherIcon): ComponentChildren {
  switch (icon) {
    case "sunny":
      return [<path class="sun-line" d={RAYS} />, <circle class="sun" cx="32" cy="32" r="12.5" />]
    case "clear_night":
      return [<path class="moon" d={MOON} />, <path class="star" d={STARS} />]
    case "partly_cloudy":
      return [
        <path class="sun-line" d={SMALL_RAYS} />,
        <circle class="sun" cx="43" cy="20" r="8.5" />,
        <path class="cloud" d={CLOUD} />,
      ]
    case "partly_cloudy_night":
      return [<path class="moon" d={SMALL_MOON} />, <path class="cloud" d={CLOUD} />]
    case "cloudy":
      return [<path class="cloud far" d={SMALL_CLOUD} />, <path class="cloud" d={CLOUD} />]
    case "rain":
      return [<path class="cloud" d={HIGH_CLOUD} />, <path class="drop" d={DROPS} />]
    case "rain_night":
      return [
        <path class="moon" d={SMALL_MOON} />,
        <path class="cloud" d={HIGH_CLOUD} />,
        <path class="drop" d={DROPS} />,
      ]
    case "snow":
      return [
        <path class="cloud" d={HIGH_CLOUD} />,
        ...[
          [20, 49],
          [32, 49],
          [44, 49],
          [26, 57],
          [38, 57],
        ].map(([x, y]) => <circle class="flake" cx={x} cy={y} r="2.2" />),
      ]
    case "storm":
      return [<path class="cloud" d={HIGH_CLOUD} />, <path class="bolt" d={BOLT} />]
    case "fog":
      return [<path class="cloud" d={HIGH_CLOUD} />, <path class="mist" d="M12 49h34M20 57h34" />]
  }
}

export function SkyIcon({ icon }: { readonly icon: WeatherIcon }): VNode {
  return (
    <svg class="sky" viewBox="0 0 64 64" data-icon={icon} aria-hidden="true" focusable="false">
      {renderShapes(icon)}
    </svg>
  )
}
