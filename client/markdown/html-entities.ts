/**
 * html-entities.ts: decodes HTML character references.
 *
 * Supports decimal and hexadecimal references, and the names that people and models commonly use. Unknown names are
 * left as written. Pure.
 */

/** Names and their characters, alternating. */
const ENTITY_TABLE =
  "amp & lt < gt > quot \" apos ' nbsp \u00a0 copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ " +
  "rsquo ’ ldquo “ rdquo ” laquo « raquo » bull • middot · deg ° plusmn ± times × divide ÷ frac12 ½ " +
  "frac14 ¼ frac34 ¾ euro € pound £ yen ¥ cent ¢ sect § para ¶ larr ← uarr ↑ rarr → darr ↓ harr ↔ " +
  "rArr ⇒ lArr ⇐ infin ∞ ne ≠ le ≤ ge ≥ asymp ≈ sum ∑ prod ∏ radic √ alpha α beta β gamma γ delta δ " +
  "Delta Δ lambda λ mu μ pi π sigma σ Sigma Σ omega ω Omega Ω micro µ sup2 ² sup3 ³ szlig ß auml ä " +
  "ouml ö uuml ü Auml Ä Ouml Ö Uuml Ü eacute é egrave è agrave à ccedil ç ntilde ñ iexcl ¡ iquest ¿ " +
  "check ✓ cross ✗ starf ★ hearts ♥ ensp \u2002 emsp \u2003 thinsp \u2009 zwnj \u200c zwj \u200d " +
  "shy \u00ad"

const charsByName = new Map<string, string>()
const entityParts = ENTITY_TABLE.split(" ")
for (let at = 0; at < entityParts.length; at += 2) charsByName.set(entityParts[at] ?? "", entityParts[at + 1] ?? "")

const CHARACTER_REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{1,31}\d{0,2}));/g

export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text
  return text.replace(CHARACTER_REFERENCE, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return charsByName.get(name) ?? whole
    const codePoint = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal)
    const isSurrogate = codePoint >= 0xd800 && codePoint <= 0xdfff
    const isChar = codePoint > 0 && codePoint <= 0x10ffff && !isSurrogate
    return isChar ? String.fromCodePoint(codePoint) : "\ufffd"
  })
}

/** Returns the decoded text without direction overrides, however they were written (SPEC CL7). Not for URLs. */
export function decodeVisibleText(text: string): string {
  return decodeEntities(text).replace(/[\u202d\u202e]/g, "")
}
