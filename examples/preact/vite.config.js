/** vite.config.js: JSX for Preact. */

import { defineConfig } from "vite"

export default defineConfig({ oxc: { jsx: { runtime: "automatic", importSource: "preact" } } })
