/**
 * landscape.ts: draws a landscape for a prompt: sky, sun or moon, ridges in the haze, water. Pure.
 *
 * No model is involved: a few words select the scene, and the prompt seeds all random choices, so the same prompt
 * always gives the same image.
 */

import { blendPixel, type Color, createRaster, createSeededRandom, fillDisc, mixColors, type Raster } from "./raster.ts"

interface Scene {
  /** Matches the prompts that select this scene. */
  readonly words: RegExp
  /** Colours from the top of the sky to the horizon. */
  readonly sky: readonly [Color, Color, Color]
  /** Colour of the sun or moon. */
  readonly light: Color
  /** Colour of the nearest ridge. */
  readonly near: Color
  /** Height of the light above the horizon, as a share of the sky. */
  readonly lightHeight: number
  readonly stars: number
  readonly isSea: boolean
}

const SEA_WORDS = /sea|ocean|beach|lake|water|island/i

// biome-ignore format: colours are read as a table
const SUNSET: Scene = {
  words: /sun ?set|sun ?rise|dusk|dawn|evening/i,
  sky: [[38, 32, 84], [214, 92, 98], [252, 190, 104]],
  light: [255, 236, 178], near: [40, 26, 52], lightHeight: 0.44, stars: 0, isSea: false,
}

/** The first match wins. */
// biome-ignore format: colours are read as a table
const SCENES: readonly Scene[] = [
  SUNSET,
  {
    words: /night|moon|star|space|dark/i,
    sky: [[8, 12, 34], [22, 34, 78], [66, 78, 128]],
    light: [240, 240, 224], near: [10, 14, 30], lightHeight: 0.68, stars: 220, isSea: false,
  },
  {
    words: SEA_WORDS,
    sky: [[58, 128, 196], [142, 196, 226], [232, 240, 232]],
    light: [255, 252, 230], near: [22, 70, 92], lightHeight: 0.6, stars: 0, isSea: true,
  },
  {
    words: /forest|tree|wood|green|garden|spring/i,
    sky: [[126, 182, 204], [196, 220, 204], [240, 240, 214]],
    light: [255, 250, 220], near: [24, 66, 44], lightHeight: 0.66, stars: 0, isSea: false,
  },
  {
    words: /desert|sand|dune|autumn|fall|gold/i,
    sky: [[86, 150, 190], [232, 206, 164], [246, 226, 184]],
    light: [255, 246, 214], near: [150, 84, 44], lightHeight: 0.62, stars: 0, isSea: false,
  },
  {
    words: /snow|winter|ice|mountain|alp/i,
    sky: [[92, 130, 182], [186, 206, 228], [240, 240, 246]],
    light: [255, 255, 250], near: [58, 76, 110], lightHeight: 0.6, stars: 0, isSea: false,
  },
]

export function drawLandscape(prompt: string, width: number, height: number): Raster {
  const random = createSeededRandom(prompt.trim().toLowerCase())
  const scene = selectScene(prompt, random)
  const raster = createRaster(width, height)
  const horizon = Math.round(height * (scene.isSea ? 0.6 : 0.72))
  paintSky(raster, scene.sky, horizon)
  paintStars(raster, scene.stars, horizon, random)
  const lightX = paintLight(raster, scene, horizon, random)
  paintRidges(raster, scene, horizon, random)
  if (scene.isSea) paintWater(raster, horizon, scene, lightX, random)
  return raster
}

/** Returns the scene that the prompt names, or a random one. Any scene can be at the sea. */
function selectScene(prompt: string, random: () => number): Scene {
  const named = SCENES.find(({ words }) => words.test(prompt))
  const scene = named ?? SCENES[Math.floor(random() * SCENES.length)] ?? SUNSET
  return { ...scene, isSea: scene.isSea || SEA_WORDS.test(prompt) }
}

/** Draws the sun or moon with a glow. Returns its horizontal position. */
function paintLight(raster: Raster, { light, lightHeight }: Scene, horizon: number, random: () => number): number {
  const x = raster.width * (0.25 + random() * 0.5)
  const y = horizon * (1 - lightHeight)
  const radius = raster.height * (0.05 + random() * 0.03)
  fillDisc(raster, x, y, 0, radius * 5, light, 0.45)
  fillDisc(raster, x, y, radius, 1.5, light)
  return x
}

/** Draws ridges from the farthest, which is hazy and high, to the nearest. */
function paintRidges(raster: Raster, { sky, near, isSea }: Scene, horizon: number, random: () => number): void {
  const layers = isSea ? 2 : 5
  const [haze, contrast] = isSea ? [0.35, 0.25] : [0.18, 0.82]
  for (let layer = 0; layer < layers; layer++) {
    const t = (layer + 1) / layers
    const base = horizon + (isSea ? 0 : (raster.height - horizon) * (t - 0.55))
    paintRidge(raster, base, raster.height * (0.13 - 0.07 * t), mixColors(sky[2], near, haze + contrast * t), random)
  }
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

/** Draws a sum of four waves, filled down to the bottom of the image. */
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
      // Anti-aliasing: the topmost pixel is covered partially.
      blendPixel(raster, x, y, color, Math.min(1, y + 1 - top))
    }
  }
}

/** Draws the mirrored sky, darker towards the viewer, with reflections of the light. */
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
