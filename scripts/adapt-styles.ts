/**
 * adapt-styles.ts: adapts the page's style sheets to the widget's shadow root. Pure. Source: SPEC WG7.
 *
 * The element `.cuecard` replaces the root element, the body and the window: the tokens and the theme are set on it,
 * its width determines the layout, and its size replaces the window's. Lengths don't depend on the site's font size.
 */

/** The size of 1rem on the page, in pixels. */
const ROOT_FONT_PX = 16
const BOX = ".cuecard"

/** Parts of the page that the widget doesn't have. */
const MISSING_PARTS =
  /\.(?:sidebar|brand|theme|topbar|backdrop|skip|drawer-button|import-slot|drop-zone|viewers|share)(?![\w-])|\[data-sidebar/

/** Files whose elements are in the top layer, and therefore as large as the window. */
const TOP_LAYER_FILES = /\/(?:dialog|lightbox|widget-shell)\.css$/

/** Adapts a style sheet. Throws if it has a media query about the window's size in an unknown form. */
export function adaptStyles(css: string, file: string): string {
  const withoutComments = css.replace(/\/\*[\s\S]*?\*\//g, "")
  const isTopLayer = TOP_LAYER_FILES.test(file)
  const isShell = file.endsWith("/widget-shell.css")
  const scoped = isShell ? withoutComments : adaptQueries(adaptSelectors(dropMissingParts(withoutComments)), file)
  return isTopLayer ? toPixels(scoped) : toContainerUnits(toPixels(scoped))
}

/** Removes each rule whose selectors all name a part that the widget doesn't have. */
function dropMissingParts(css: string): string {
  return css.replace(/([^{};]+)\{[^{}]*\}/g, (rule: string, selectors: string) => {
    // A comma inside parentheses is part of a selector.
    const list = selectors.split(/,(?![^(]*\))/)
    return list.every(needsMissingPart) ? "" : rule
  })
}

/** Whether the selector matches only if a missing part exists. In `:is(…)`, all alternatives must be missing parts. */
function needsMissingPart(selector: string): boolean {
  const outside = selector.replace(/:(is|not)\(([^()]*)\)/g, (group: string, name: string, list: string) =>
    name === "is" && list.split(",").every((part) => MISSING_PARTS.test(part)) ? group : "",
  )
  return MISSING_PARTS.test(outside)
}

function adaptSelectors(css: string): string {
  return css
    .replace(/:root\s*,\s*:host(?!\()/g, ":root")
    .replace(/:host(?!\()\s*,\s*:root/g, ":root")
    .replace(/:root(?=[\s,[{.:)])/g, BOX)
    .replace(/(^\s*|[,{}]\s*)(?:html|body|#app)(?=\s*[,{])/g, `$1${BOX}`)
}

/**
 * Turns a media query about the window's width into a query about the container's width. Print and device features are
 * unchanged.
 */
function adaptQueries(css: string, file: string): string {
  return css.replace(/@media([^{]*)\{/g, (rule: string, query: string) => {
    if (!/width|height|aspect|orientation/.test(query)) return rule
    const isSimple = /^\s*\((?:min|max)-width:[^()]*\)\s*$|^\s*\(width\s*[<>]=?[^()]*\)\s*$/.test(query)
    if (!isSimple) throw new Error(`${file}: the widget can't adapt @media${query.trimEnd()}`)
    return `@container cuecard${query}{`
  })
}

function toPixels(css: string): string {
  return css.replace(/(?<![\w#-])(-?(?:\d+\.?\d*|\.\d+))rem\b/g, (_length, count: string) => {
    const pixels = Number(count) * ROOT_FONT_PX
    return `${Number(pixels.toFixed(4))}px`
  })
}

function toContainerUnits(css: string): string {
  return css.replace(/(?<![\w#-])(-?(?:\d+\.?\d*|\.\d+))[dsl]?v([wh])\b/g, "$1cq$2")
}
