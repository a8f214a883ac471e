/**
 * stroke-font.ts: the classic 5×7 bitmap font for ASCII, converted to strokes. Accents are dropped. Pure.
 *
 * Drawn with a round pen, the strokes make smooth letters of any size. The font is proportional.
 */

const COLUMNS_PER_LETTER = 5
/** Including the row below the baseline. */
const ROWS = 8
/** Width of a space, in columns. */
const SPACE_WIDTH = 2

/** A line between two points of a letter. The second is never left of the first. */
export type Stroke = readonly [x1: number, y1: number, x2: number, y2: number]

/**
 * The letters, starting with the space: five columns each, as hexadecimal bytes. The lowest bit is the topmost point.
 */
const COLUMNS =
  "0000000000" +
  "00005f0000" +
  "0007000700" +
  "147f147f14" +
  "242a7f2a12" +
  "2313086462" +
  "3649562050" +
  "0008070300" +
  "001c224100" +
  "0041221c00" +
  "2a1c7f1c2a" +
  "08083e0808" +
  "0080703000" +
  "0808080808" +
  "0000606000" +
  "2010080402" +
  "3e4141413e" +
  "00427f4000" +
  "7249494946" +
  "2141494d33" +
  "1814127f10" +
  "2745454539" +
  "3c4a494931" +
  "4121110907" +
  "3649494936" +
  "464949291e" +
  "0000140000" +
  "0040340000" +
  "0008142241" +
  "1414141414" +
  "0041221408" +
  "0201590906" +
  "3e415d594e" +
  "7c1211127c" +
  "7f49494936" +
  "3e41414122" +
  "7f4141413e" +
  "7f49494941" +
  "7f09090901" +
  "3e41415173" +
  "7f0808087f" +
  "00417f4100" +
  "2040413f01" +
  "7f08142241" +
  "7f40404040" +
  "7f021c027f" +
  "7f0408107f" +
  "3e4141413e" +
  "7f09090906" +
  "3e4151215e" +
  "7f09192946" +
  "2649494932" +
  "03017f0103" +
  "3f4040403f" +
  "1f2040201f" +
  "3f4038403f" +
  "6314081463" +
  "0304780403" +
  "6159494d43" +
  "007f414141" +
  "0204081020" +
  "004141417f" +
  "0402010204" +
  "4040404040" +
  "0003070800" +
  "2054547840" +
  "7f28444438" +
  "3844444428" +
  "384444287f" +
  "3854545418" +
  "00087e0902" +
  "18a4a49c78" +
  "7f08040478" +
  "00447d4000" +
  "2040403d00" +
  "7f10284400" +
  "00417f4000" +
  "7c04780478" +
  "7c08040478" +
  "3844444438" +
  "fc18242418" +
  "18242418fc" +
  "7c08040408" +
  "4854545424" +
  "04043f4424" +
  "3c4040207c" +
  "1c2040201c" +
  "3c4030403c" +
  "4428102844" +
  "4c9090907c" +
  "4464544c44" +
  "0008364100" +
  "0000770000" +
  "0041360800" +
  "0201020402"

const FIRST_CHAR_CODE = 0x20

/** Returns the columns of a letter, without empty ones at either end. */
function readColumns(char: string): readonly number[] {
  const code = char.normalize("NFD").charCodeAt(0)
  const at = (code >= FIRST_CHAR_CODE && code <= 0x7e ? code : "?".charCodeAt(0)) - FIRST_CHAR_CODE
  const hex = COLUMNS.slice(at * COLUMNS_PER_LETTER * 2, (at + 1) * COLUMNS_PER_LETTER * 2)
  const columns = Array.from({ length: COLUMNS_PER_LETTER }, (_, i) => Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16))
  const first = columns.findIndex((bits) => bits !== 0)
  return columns.slice(Math.max(first, 0), columns.findLastIndex((bits) => bits !== 0) + 1)
}

/** Returns the width of a letter, in units of the font grid. */
export function measureChar(char: string): number {
  return readColumns(char).length || SPACE_WIDTH
}

/** Connects neighbouring points: diagonally only if no point fills the corner. A single point becomes a dot. */
export function createStrokes(char: string): readonly Stroke[] {
  const columns = readColumns(char)
  const hasPoint = (x: number, y: number): boolean => y >= 0 && y < ROWS && (((columns[x] ?? 0) >> y) & 1) === 1
  const strokes: Stroke[] = []
  columns.forEach((_, x) => {
    for (let y = 0; y < ROWS; y++) {
      if (!hasPoint(x, y)) continue
      const right = hasPoint(x + 1, y)
      strokes.push([x, y, x, hasPoint(x, y + 1) ? y + 1 : y])
      if (right) strokes.push([x, y, x + 1, y])
      if (!right && !hasPoint(x, y + 1) && hasPoint(x + 1, y + 1)) strokes.push([x, y, x + 1, y + 1])
      if (!right && !hasPoint(x, y - 1) && hasPoint(x + 1, y - 1)) strokes.push([x, y, x + 1, y - 1])
    }
  })
  return strokes
}
