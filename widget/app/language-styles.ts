/**
 * language-styles.ts: the styles for right-to-left text and for non-Latin scripts, loaded with a language other than
 * English.
 */

import rightToLeft from "../../client/styles/right-to-left.css?inline"
import type { StyleTexts } from "./widget-styles.ts"

export const LANGUAGE_STYLES: StyleTexts = { rightToLeft }
