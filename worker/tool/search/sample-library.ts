/**
 * sample-library.ts: a few invented pages for deployments without a search service, such as tests and demos. Pure.
 *
 * Their URLs are on `example.com`, a domain that is reserved for examples, so they can't be mistaken for real pages.
 */

export type SamplePage = {
  readonly url: string
  readonly title: string
  readonly quote: string
}

const PAGES: readonly (readonly [path: string, title: string, quote: string])[] = [
  ["tea/steeping", "How to steep tea", "Black tea steeps for three to five minutes in water just off the boil."],
  ["tea/green", "Green tea without bitterness", "Green tea turns bitter above 80 °C. Two minutes are enough."],
  ["tea/storage", "Storing tea", "Tea leaves keep for a year in a closed tin, away from light and smells."],
  ["coffee/filter", "Filter coffee by weight", "Use 60 grams of coffee for a litre of water, ground like coarse sand."],
  ["coffee/espresso", "What makes an espresso", "An espresso runs through 18 grams of coffee in 25 to 30 seconds."],
  [
    "bread/sourdough",
    "A first sourdough loaf",
    "A starter is ready when it doubles in height within six hours of a feed.",
  ],
  ["bread/crust", "Why bread has a crust", "Steam in the first minutes keeps the surface soft, so the loaf can rise."],
  [
    "sea/tides",
    "Why there are tides",
    "The Moon raises two bulges of water, so most coasts have two high tides a day.",
  ],
  ["sea/waves", "Reading waves", "Waves break when the water is about 1.3 times as deep as they are high."],
  ["garden/bees", "Bees in a small garden", "Bumblebees fly at 8 °C, earlier in spring than honeybees."],
  ["garden/compost", "Compost that heats up", "A heap needs about thirty parts of carbon to one part of nitrogen."],
  [
    "cycling/tyres",
    "Tyre pressure for commuters",
    "Wider tyres roll well at lower pressure and are kinder on bad roads.",
  ],
  ["cycling/chain", "Looking after a chain", "A chain is worn out when it has stretched by 0.75 percent."],
  ["sky/stars", "Finding the North Star", "The two outer stars of the Big Dipper's bowl point to the North Star."],
  ["sky/moon", "Phases of the Moon", "From one new moon to the next it takes about 29.5 days."],
  [
    "history/paper",
    "The way of paper",
    "Paper spread from China along the trade routes and reached Europe in the 11th century.",
  ],
]

/** Returns the pages that contain the most words of the query, best first. Cost: linear in the size of the library. */
export function searchSampleLibrary(query: string, limit: number): readonly SamplePage[] {
  const words = new Set(listWords(query))
  return PAGES.map(([path, title, quote]) => ({ url: `https://example.com/library/${path}`, title, quote }))
    .map((page) => ({ page, count: countWords(`${page.url} ${page.title} ${page.quote}`, words) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .slice(0, limit)
    .map(({ page }) => page)
}

/** Words of at least three letters, without the `s` of the plural. */
function listWords(text: string): string[] {
  return (text.toLowerCase().match(/\p{L}{3,}/gu) ?? []).map((word) => word.replace(/s$/, ""))
}

function countWords(text: string, words: ReadonlySet<string>): number {
  return new Set(listWords(text).filter((word) => words.has(word))).size
}
