/**
 * landscape.ts: words become a landscape: sky, light, ridges in the haze, water. No model behind it, and it says so.
 *
 * image_generate → PICTURE → raster
 * Pure. The same words, the same pixels; a few of them are understood.
 */

import { blendPixel, createSeededRandom, type Color, createRaster, fillDisc, mixColors, type Raster } from "./raster.ts"

interface Scene {
  readonly sky: readonly [Color, Color, Color]
  readonly light: Color
  readonly near: Color
  /** Above the horizon, as a share of the sky. */
  readonly lightAt: number
  readonly stars: number
  readonly isSea: boolean
}

const SCENES: readonly (readonly [words: RegExp, scene: Scene])[] = [
  [
    /sun ?set|sun ?rise|dusk|dawn|evening/i,
    createScene(
      [
        [38, 32, 84],
        [214, 92, 98],
        [252, 190, 104],
      ],
      [255, 236, 178],
      [40, 26, 52],
      0.44,
    ),
  ],
  [
    /night|moon|star|space|dark/i,
    {
      ...createScene(
        [
          [8, 12, 34],
          [22, 34, 78],
          [66, 78, 128],
        ],
        [240, 240, 224],
        [10, 14, 30],
        0.68,
      ),
      stars: 220,
    },
  ],
  [
    /sea|ocean|beach|lake|water|island/i,
    {
      ...createScene(
        [
          [58, 128, 196],
          [142, 196, 226],
          [232, 240, 232],
        ],
        [255, 252, 230],
        [22, 70, 92],
        0.6,
      ),
      isSea: true,
    },
  ],
  [
    /forest|tree|wood|green|garden|spring/i,
    createScene(
      [
        [126, 182, 204],
        [196, 220, 204],
        [240, 240, 214],
      ],
      [255, 250, 220],
      [24, 66, 44],
      0.66,
    ),
  ],
  [
    /desert|sand|dune|autumn|fall|gold/i,
    createScene(
      [
        [86, 150, 190],
        [232, 206, 164],
        [246, 226, 184],
      ],
      [255, 246, 214],
      [150, 84, 44],
      0.62,
    ),
  ],
  [
    /snow|winter|ice|mountain|alp/i,
    createScene(
      [
        [92, 130, 182],
        [186, 206, 228],
        [240, 240, 246],
      ],
      [255, 255, 250],
      [58, 76, 110],
      0.6,
    ),
  ],
]

function createScene(sky: Scene["sky"], light: Color, near: Color, lightAt: number): Scene {
  return { sky, light, near, lightAt, stars: 0, isSea: false }
}

export function drawLandscape(prompt: string, width: number, height: number): Raster {
  const random = createSeededRandom(prompt.trim().toLowerCase())
  const matched = SCENES.find(([words]) => words.test(prompt))?.[1]
  const chosen =
    matched ??
    SCENES[Math.floor(random() * SCENES.length)]?.[1] ??
    createScene(
      [
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
      ],
      [0, 0, 0],
      [0, 0, 0],
      0,
    )
  const isSea = chosen.isSea || /sea|ocean|beach|lake|water|island/i.test(prompt)
  const raster = createRaster(width, height)
  const horizon = Math.round(height * (isSea ? 0.6 : 0.72))
  paintSky(raster, chosen.sky, horizon)
  paintStars(raster, chosen.stars, horizon, random)
  const light = {
    x: width * (0.25 + random() * 0.5),
    y: horizon * (1 - chosen.lightAt),
    r: height * (0.05 + random() * 0.03),
  }
  fillDisc(raster, light.x, light.y, 0, light.r * 5, chosen.light, 0.45)
  fillDisc(raster, light.x, light.y, light.r, 1.5, chosen.light)
  const layers = isSea ? 2 : 5
  for (let layer = 0; layer < layers; layer++) {
    const t = (layer + 1) / layers
    const color = mixColors(chosen.sky[2], chosen.near, (isSea ? 0.35 : 0.18) + (isSea ? 0.25 : 0.82) * t)
    paintRidge(
      raster,
      horizon + (isSea ? 0 : (height - horizon) * (t - 0.55)),
      height * (0.13 - 0.07 * t),
      color,
      random,
    )
  }
  if (isSea) paintWater(raster, horizon, chosen, light.x, random)
  return raster
}

function paintSky(raster: Raster, [high, middle, low]: Scene["sky"], horizon: number): void {
  for (let y = 0; y < raster.height; y++) {
    const t = Math.min(1, y / horizon)
    const color = t < 0.6 ? mixColors(high, middle, t / 0.6) : mixColors(middle, low, (t - 0.6) / 0.4)
    for (let x = 0; x < raster.width; x++) blendPixel(raster, x, y, color)
  }
}

function paintStars(raster: Raster, count: number, horizon: number, random: () => number): void {
  for (let i = 0; i < count; i++) {
    const [x, y] = [random() * raster.width, random() ** 1.6 * horizon]
    fillDisc(raster, x, y, random() * 0.6, 1, [255, 255, 244], 0.35 + random() * 0.65)
  }
}

/** Waves of four lengths on top of each other, filled down to the lower edge. */
function paintRidge(raster: Raster, base: number, rise: number, color: Color, random: () => number): void {
  const waves = [1.3, 2.9, 6.7, 15.1].map((length) => ({
    length: length * (0.8 + random() * 0.4),
    phase: random() * 6.28,
  }))
  for (let x = 0; x < raster.width; x++) {
    const at = (x / raster.width) * 6.28
    const lift = waves.reduce((sum, { length, phase }, i) => sum + Math.sin(at * length + phase) / (i + 1) ** 1.25, 0)
    const top = base - rise * lift
    for (let y = Math.max(0, Math.floor(top)); y < raster.height; y++) {
      // The first point is as full as the ridge is in it.
      blendPixel(raster, x, y, color, Math.min(1, y + 1 - top))
    }
  }
}

/** The sky upside down, darker towards the reader, with the path of the light on it. */
function paintWater(
  raster: Raster,
  horizon: number,
  { sky, light, near }: Scene,
  lightX: number,
  random: () => number,
): void {
  for (let y = horizon; y < raster.height; y++) {
    const t = (y - horizon) / (raster.height - horizon)
    const color = mixColors(mixColors(sky[2], sky[1], t), near, 0.25 + 0.6 * t)
    for (let x = 0; x < raster.width; x++) blendPixel(raster, x, y, color)
  }
  for (let i = 0; i < 420; i++) {
    const t = random() ** 1.4
    const y = Math.round(horizon + 2 + t * (raster.height - horizon - 4))
    const halfWidth = 3 + t * raster.width * 0.05 * random()
    const middle = lightX + (random() - 0.5) * raster.width * (0.05 + 0.3 * t)
    for (let x = Math.round(middle - halfWidth); x <= middle + halfWidth; x++)
      blendPixel(raster, x, y, light, 0.16 + 0.3 * (1 - t))
  }
}
