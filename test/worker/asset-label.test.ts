/**
 * asset-label.test.ts: tests the labels of assets that tools create. asset-upload.test.ts tests the labels of uploads.
 */

import { expect, test } from "vitest"
import { MAX_LABEL_CHARS } from "../../shared/limits.ts"
import { titleToLabel } from "../../worker/asset/asset-label.ts"

test.each([
  ["Sales 2024/2025.png", "Sales 2024-2025.png"],
  ["Input / Output", "Input-Output"],
  [".NET growth.png", ".NET growth.png"],
  ["C:\\plan\n\n of  mine", "C:-plan of mine"],
  ["a\u202egnp.exe\u3164", "agnp.exe"],
  [" \u200b ", "image.png"],
  [`${"é".repeat(300)}.png`, `${"é".repeat(MAX_LABEL_CHARS - 4)}.png`],
])("[AS6] the title %j becomes the name %j", (title, label) => {
  expect(titleToLabel(title, "image.png")).toBe(label)
})
