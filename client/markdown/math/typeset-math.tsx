/**
 * typeset-math.tsx: converts TeX to MathML nodes.
 *
 * Temml parses the formula into a tree. Only elements, attributes and styles in the lists below become nodes; a formula
 * with any other element isn't typeset. Commands that define macros, load something or write HTML are refused before
 * parsing. SPEC MD12, MD13.
 */

import { type ComponentChildren, h, type VNode } from "preact"
import temml from "temml"

/** Temml's own macros, such as `\iff`, are expanded at most this many times. */
const MAX_EXPANSIONS = 300
/** Maximum number of elements in one formula. */
const MAX_ELEMENTS = 3_000
/** Maximum nesting depth of elements. Browsers lay them out recursively. */
const MAX_DEPTH = 60
/** Maximum nesting depth of braces, environments and delimiters in the source. The parser is recursive. */
const MAX_SOURCE_DEPTH = 100
/** Maximum length in a formula, in `em`. A greater length could cover other parts of the page. */
const MAX_EM = 20
/** Maximum absolute value of each unit. For the absolute units, this value is about as long as MAX_EM. */
const MAX_BY_UNIT: ReadonlyMap<string, number> = new Map([
  ["", 1_000],
  ["%", 100],
  ["width", 1],
  ["em", MAX_EM],
  ["ex", MAX_EM],
  ["px", 300],
  ["pt", 300],
  ["mm", 100],
  ["cm", 10],
  ["in", 4],
])

const REFUSED_NAMES =
  "[gex]?def|let|futurelet|global|long|newcommand|renewcommand|providecommand|newenvironment|renewenvironment|" +
  "DeclareMathOperator|csname|href|url|includegraphics|html\\w*|class|id|cssId|style|data|label|ref|eqref|char|unicode|" +
  "toggle|texttip|mathtip|input|include|write|catcode|require"
const REFUSED = new RegExp(`\\\\(?:${REFUSED_NAMES})(?![a-zA-Z])`)

const ELEMENTS: ReadonlySet<string> = new Set(
  (
    "math mrow mi mn mo ms mtext mspace msup msub msubsup mover munder munderover mmultiscripts mprescripts none mfrac " +
    "msqrt mroot mtable mtr mtd mstyle mpadded mphantom menclose"
  ).split(" "),
)

const ATTRIBUTES: ReadonlySet<string> = new Set(
  (
    "display displaystyle scriptlevel mathvariant mathcolor mathbackground mathsize fence form stretchy separator lspace " +
    "rspace largeop movablelimits symmetric accent accentunder minsize maxsize linethickness width height depth voffset " +
    "columnalign rowalign columnspacing rowspacing columnlines rowlines notation columnspan rowspan"
  ).split(" "),
)

const STYLES: ReadonlySet<string> = new Set(
  (
    "color textAlign width padding paddingTop paddingRight paddingBottom paddingLeft marginLeft border borderTop " +
    "borderRight borderBottom borderLeft fontWeight mathDepth"
  ).split(" "),
)

const VALUE = /^[\w\s.%#(),+-]{0,80}$/
/** The class names that formulas.css defines. */
const CLASS_NAME = /^(?:tml-[\w-]+|menclose|(?:up|down)strike|sout|circle-pad|textcircle)$/

/** The fields of Temml's tree that are read. */
interface TreeNode {
  readonly type?: string
  readonly text?: string
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly style?: Readonly<Record<string, unknown>>
  readonly classes?: readonly string[]
  readonly children?: readonly TreeNode[]
}

/** Typesets a formula. Returns null if it is invalid, refused or too large. Never throws. */
export function typesetMath(tex: string, isDisplay: boolean): VNode | null {
  if (REFUSED.test(tex) || measureDepth(tex) > MAX_SOURCE_DEPTH) return null
  try {
    const tree: TreeNode = temml.__renderToMathMLTree(tex, {
      displayMode: isDisplay,
      throwOnError: true,
      trust: false,
      strict: false,
      maxExpand: MAX_EXPANSIONS,
      maxSize: [MAX_EM, MAX_EM],
      macros: {},
    })
    return tree.type === "math" ? new NodeBuilder().build(tree, 0) : null
  } catch {
    return null
  }
}

/** Returns an upper bound for the nesting depth of the source. Every `\left` and `\begin` counts as one level. */
function measureDepth(tex: string): number {
  let depth = 0
  let deepest = 0
  for (const char of tex) {
    if (char === "{") deepest = Math.max(deepest, ++depth)
    else if (char === "}") depth--
  }
  const commands = tex.match(/\\(?:left|begin)(?![a-zA-Z])/g)?.length ?? 0
  return deepest + commands
}

class TooLargeError extends Error {}

class NodeBuilder {
  #elements = 0

  build(node: TreeNode, depth: number): VNode {
    const { type = "" } = node
    if (!ELEMENTS.has(type) || depth > MAX_DEPTH || ++this.#elements > MAX_ELEMENTS) throw new TooLargeError(type)
    const children = (node.children ?? []).map((child) => this.#buildChild(child, depth + 1))
    return h(type, readAttributes(node), ...children)
  }

  #buildChild(node: TreeNode, depth: number): ComponentChildren {
    if (node.type === undefined && typeof node.text === "string") return node.text
    if (node.type === undefined && node.children !== undefined) {
      return node.children.map((child) => this.#buildChild(child, depth + 1))
    }
    return this.build(node, depth)
  }
}

function readAttributes({ attributes = {}, style = {}, classes = [] }: TreeNode): Record<string, unknown> {
  const names = classes.filter((name) => CLASS_NAME.test(name))
  const styles = pickAllowed(style, STYLES)
  return {
    ...pickAllowed(attributes, ATTRIBUTES),
    class: names.length === 0 ? undefined : names.join(" "),
    style: Object.keys(styles).length === 0 ? undefined : styles,
  }
}

function pickAllowed(values: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): Record<string, string> {
  const entries = Object.entries(values).map(([name, value]) => [name, String(value)] as const)
  return Object.fromEntries(entries.filter(([name, value]) => names.has(name) && VALUE.test(value) && isSmall(value)))
}

/** Returns whether every number in a value is within MAX_BY_UNIT. Numbers with an exponent aren't allowed. */
function isSmall(value: string): boolean {
  const parts = value.split(/[\s,()]+/).filter((part) => /\d/.test(part) && !part.startsWith("#"))
  return parts.every((part) => {
    const [, number, unit = ""] = /^[+-]?(\d+\.?\d*|\.\d+)([a-z%]*)$/.exec(part) ?? []
    return number !== undefined && Number(number) <= (MAX_BY_UNIT.get(unit) ?? -1)
  })
}
