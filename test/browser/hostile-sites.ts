/**
 * hostile-sites.ts: sites whose styles and scripts would change an element that is not isolated from the site.
 *
 * Each site sets the size of the widget's element, which a site may do, and tries to change what is inside.
 */

export interface HostileSite {
  readonly name: string
  /** Markup in the head. */
  readonly head?: string
  /** Markup before and after the element. */
  readonly around?: readonly [before: string, after: string]
  /** Attributes of the root element. */
  readonly html?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The factor by which the site enlarges everything in it. */
  readonly zoom?: number
}

const style = (css: string): string => `<style>${css}</style>`

/** The page's custom properties, whose names a site may use for its own styles. */
const TOKENS =
  "ground raised sunken bubble line line-strong text muted violet violet-wash firm on-firm cyan gold gold-line gold-wash amber magenta glow shadow sans mono round round-small measure gutter accent on-accent surface border font radius space density".split(
    " ",
  )

const RESET =
  "html, body, div, span, h1, h2, h3, p, a, ul, ol, li, button, input, textarea, table, td, dialog, section, article, header, footer, main, form, svg, cuecard-chat { margin: 0; padding: 0; border: 0; font: inherit; vertical-align: baseline; list-style: none; background: none; box-sizing: content-box }"

export function createHostileSites(server: string): readonly HostileSite[] {
  const socket = server.replace(/^http/, "ws")
  const policy = [
    "default-src 'none'",
    `script-src ${server}`,
    "style-src 'nonce-site'",
    `connect-src 'self' ${server} ${socket}`,
    `img-src ${server} data: blob:`,
    `media-src ${server} blob:`,
    `frame-src ${server}`,
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ")
  return [
    { name: "a reset of everything", head: style(RESET) },
    { name: "* { all: unset !important }", head: style("* { all: unset !important }") },
    {
      name: "important colours, fonts and boxes",
      head: style(
        "* { color: #f0f !important; background: #0f0 !important; font: italic 900 31px/3 cursive !important; border: 5px dotted red !important; padding: 17px !important; outline: 9px solid blue !important; box-shadow: 0 0 40px red !important; text-shadow: 2px 2px red !important }",
      ),
    },
    {
      name: "important inherited text properties",
      head: style(
        "html { letter-spacing: 7px; word-spacing: 20px; text-transform: uppercase; text-indent: 50px; text-align: center; line-height: 4; white-space: pre; word-break: break-all; hyphens: auto; font-variant: small-caps; font-stretch: 200%; font-feature-settings: 'smcp'; tab-size: 20; quotes: '<' '>'; cursor: wait; visibility: visible; -webkit-text-stroke: 1px red; paint-order: stroke; caret-color: red; accent-color: red; text-rendering: geometricPrecision; font-kerning: none; text-decoration: underline wavy red; writing-mode: horizontal-tb; user-select: none; text-align-last: end; overflow-wrap: normal; list-style: square inside; border-collapse: collapse; empty-cells: hide; color-scheme: dark }",
      ),
    },
    {
      name: "important inherited properties on the element",
      head: style(
        "cuecard-chat { font-size: 40px !important; line-height: 9 !important; color: red !important; visibility: visible !important; letter-spacing: 1em !important; direction: rtl !important; text-align: end !important; writing-mode: vertical-rl !important; text-decoration: line-through !important; cursor: none !important; pointer-events: auto !important }",
      ),
    },
    { name: "a root font of 62.5 %", head: style("html { font-size: 62.5% } body { font-size: 1.6rem }") },
    { name: "a root font of 200 %", head: style("html { font-size: 200% !important }") },
    { name: "zoom", head: style("body { zoom: 1.25 }"), zoom: 1.25 },
    { name: "right to left", html: 'dir="rtl"' },
    {
      name: "transforms and filters around it",
      around: [
        '<div style="transform: translateZ(0); perspective: 500px; filter: brightness(1); will-change: transform; contain: content">',
        "</div>",
      ],
    },
    {
      name: "no display for dialogs, popovers and buttons",
      head: style(
        "dialog, [popover], button, svg, details, summary, header, footer, main { display: none !important } ::backdrop { background: red !important }",
      ),
    },
    {
      name: "a war of z-index",
      around: [
        '<div style="position: relative; z-index: 1"><div style="position: absolute; inset: 0 0 auto auto; width: 100px; height: 30px; margin-inline-end: -400px; z-index: 2147483647; background: red"></div>',
        "</div>",
      ],
    },
    {
      name: "pseudo-elements everywhere",
      head: style(
        'cuecard-chat::before, cuecard-chat::after, cuecard-chat *::before { content: "HOSTILE" !important; display: block !important; position: absolute !important; inset: 0 !important; font-size: 90px !important; background: red !important } *::selection { background: red !important } *::first-line { color: red !important } *::first-letter { font-size: 90px !important; color: red !important } *::placeholder { color: red !important } *::marker { color: red !important } ::-webkit-scrollbar { width: 40px !important; background: red !important }',
      ),
    },
    {
      name: "animations and transitions",
      head: style(
        "@keyframes spin { to { rotate: 360deg } } @keyframes rise { to { opacity: 0.2 } } cuecard-chat, cuecard-chat * { animation: spin 1s infinite !important; transition: all 9s !important; opacity: 0.5; filter: blur(3px) }",
      ),
    },
    {
      name: "filters, clips and blends of the element",
      head: style(
        "cuecard-chat { opacity: 0.3 !important; filter: invert(1) !important; clip-path: circle(20%) !important; mask: linear-gradient(#000, transparent) !important; mix-blend-mode: difference !important; rotate: 9deg !important; scale: 0.5 !important; transform: skew(9deg) !important; translate: 30px !important; columns: 3 !important; overflow: scroll !important; display: inline-flex !important; content-visibility: hidden !important; contain: none !important }",
      ),
    },
    {
      name: "custom properties of the same names",
      head: style(`* { ${TOKENS.map((name) => `--${name}: red !important`).join("; ")} }`),
    },
    {
      name: "classes of the same names",
      head: style(
        ".cuecard, .page, .widget, .transcript, .composer, .card, .view, .column, .foot, .prose, .acts { display: none !important; color: red !important }",
      ),
    },
    {
      name: "a grid and a flex container around it",
      around: [
        '<div style="display: grid; grid-template-columns: 700px; align-items: start; justify-items: start; gap: 40px"><div style="display: flex; flex-direction: column-reverse; align-items: flex-start">',
        "</div></div>",
      ],
    },
    { name: "a strict policy with trusted types", headers: { "content-security-policy": policy } },
    {
      name: "frozen prototypes",
      head: "<script>for (const one of [Array, String, Function, RegExp, Map, Set, Promise, Node, Element, HTMLElement, Event, EventTarget]) Object.freeze(one.prototype)</script>",
    },
    {
      name: "changed built-in methods",
      head: "<script>Array.prototype.hostile = 1; Object.prototype.hostile = () => 'x'; String.prototype.hostile = 1; const say = console.log; window.onerror = null; Node.prototype.normalize = () => { throw new Error('hostile') }; document.querySelector = () => null; document.createRange = () => null; window.name = 'hostile'; window.status = 'hostile'; var process = 1, module = 2, exports = 3, define = Object.assign(() => {}, { amd: true }), require = 4, h = 5, options = 6</script>",
    },
    {
      name: "a table with nowrap around it",
      around: [
        '<table style="border-collapse: separate; white-space: nowrap; font: 9px monospace"><tr><td align="center" nowrap>',
        "</td></tr></table>",
      ],
    },
  ]
}
