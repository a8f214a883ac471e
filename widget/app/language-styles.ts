/**
 * language-styles.ts: the styles of text from right to left and of other scripts, loaded with a language other than
 * English.
 */

import rightToLeft from "../../client/styles/right-to-left.css?inline"
import type { StyleTexts } from "./widget-styles.ts"

export const LANGUAGE_STYLES: StyleTexts = { rightToLeft }
