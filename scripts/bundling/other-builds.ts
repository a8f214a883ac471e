/**
 * other-builds.ts: Vite plugins that build what is loaded separately from the page: the admin page, the page for shared
 * copies, the widget and the service worker. Each build is a separate bundle in the same folder.
 */

import preact from "@preact/preset-vite"
import { build, type BuildEnvironmentOptions, type Plugin } from "vite"
import { adaptStyles } from "../adapt-styles.ts"
import { splitByView } from "./chunk-groups.ts"
import { withSharedHead } from "./html-plugins.ts"
import { withoutPreloadHelper, withoutRuntimeChunk } from "./output-plugins.ts"

/** Options of all these builds: they add files to the folder of the page. */
const SAME_FOLDER = {
  target: "es2023",
  outDir: "dist/client",
  emptyOutDir: false,
  copyPublicDir: false,
} satisfies BuildEnvironmentOptions

/** Creates a plugin that runs another build once the page is written. */
function createLaterBuild(name: string, runBuild: () => Promise<void>): Plugin {
  return {
    name,
    apply: "build",
    applyToEnvironment: (environment) => environment.name === "client",
    closeBundle: { sequential: true, handler: runBuild },
  }
}

/**
 * Builds the service worker into the same folder. Browsers request it by a fixed name, which therefore contains no
 * hash.
 */
export function withServiceWorker(): Plugin {
  return createLaterBuild("cuecard:with-service-worker", async () => {
    await build({
      configFile: false,
      build: {
        ...SAME_FOLDER,
        modulePreload: false,
        rolldownOptions: {
          input: "client/service-worker/service-worker.ts",
          output: { entryFileNames: "service-worker.js", format: "iife" },
        },
      },
    })
  })
}

/**
 * Builds the admin page and the page for shared copies into the same folder, as separate bundles. Chunks that they
 * shared with the chat page would be part of that page's initial load.
 */
export function withOtherPages(): Plugin {
  return createLaterBuild("cuecard:with-other-pages", async () => {
    for (const input of ["admin.html", "share.html"])
      await build({
        configFile: false,
        plugins: [preact(), withSharedHead(), adaptedStyles(), withoutPreloadHelper()],
        build: {
          ...SAME_FOLDER,
          modulePreload: { polyfill: false },
          rolldownOptions: { input },
        },
      })
  })
}

/** Adapts the page's style sheets, which the widget imports as text. */
function adaptedStyles(): Plugin {
  return {
    name: "cuecard:adapted-styles",
    enforce: "pre",
    transform: {
      filter: { id: /\.css\?inline$/ },
      handler: (code, id) => ({ code: adaptStyles(code, id.replace(/\?.*/, "")), map: null }),
    },
  }
}

/** The module that draws the widget's conversation. The widget's small entry loads it. */
const WIDGET_VIEW = /\/widget\/app\/mount-conversation\.tsx$/

/**
 * Builds the widget and the page in its frame into the same folder. Other sites load the script by a fixed name, which
 * therefore contains no hash. The script imports the other files, whose names contain hashes, by relative URLs.
 */
export function withWidget(): Plugin {
  return createLaterBuild("cuecard:with-widget", async () => {
    await build({
      configFile: false,
      base: "./",
      plugins: [preact(), adaptedStyles(), withoutPreloadHelper(), withoutRuntimeChunk()],
      build: {
        ...SAME_FOLDER,
        modulePreload: { polyfill: false, resolveDependencies: () => [] },
        rolldownOptions: {
          input: { widget: "widget/chat-element.ts", embed: "embed.html" },
          output: {
            entryFileNames: ({ name }) => (name === "widget" ? "widget.js" : "assets/widget-[name]-[hash].js"),
            chunkFileNames: "assets/widget-[name]-[hash].js",
            codeSplitting: {
              groups: [
                {
                  name: "shell",
                  test: /\/widget\/shell\/(?!widget-frame)|preload-helper|widget-shell\.css/,
                  priority: 3,
                },
                ...splitByView((_info, id) => WIDGET_VIEW.test(id)),
              ],
            },
          },
        },
      },
    })
  })
}
