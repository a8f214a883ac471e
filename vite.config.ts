/**
 * vite.config.ts: builds and serves the page and the Worker.
 *
 * `vite dev` serves both with hot reload; `vite build` writes dist/client (page) and dist/cuecard (Worker).
 * `--mode testing` and `--mode shared` build the package entries `cuecard/testing` and `cuecard` for plain Node instead;
 * `--mode sdk` builds `cuecard/client`, `cuecard/preact` and `cuecard/react`.
 */
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { cloudflare } from "@cloudflare/vite-plugin"
import preact from "@preact/preset-vite"
import { build, type BuildEnvironmentOptions, defineConfig, minifySync, type Plugin, type UserConfig } from "vite"
import { adaptStyles } from "./scripts/adapt-styles.ts"

const STATE_DIR = process.env["CUECARD_STATE"] ?? ".wrangler/state"

/**
 * Selects the environment of wrangler.toml: `local`, unless scripts/deploy.ts selects production (an empty name, for
 * the top level). Cloudflare's own builds are production builds, because it deploys the dist/ that they write.
 */
process.env["CLOUDFLARE_ENV"] ??= process.env["WORKERS_CI"] === "1" ? "" : "local"

/** Removes the build machine's paths from the built configuration, which is part of the package. */
function withoutPaths(): Plugin {
  const file = "dist/cuecard/wrangler.json"
  return {
    name: "cuecard:without-paths",
    apply: "build",
    closeBundle() {
      if (!existsSync(file)) return
      const { configPath: _config, userConfigPath: _userConfig, ...config } = JSON.parse(readFileSync(file, "utf8"))
      writeFileSync(file, JSON.stringify(config))
    },
  }
}

/** A call of the helper that takes only some exports of the imported chunk. */
const CALL_FOR_NAMES =
  /\b[\w$]+\(async\(\)=>\{let\{([^}]*)\}=await (import\(`[^`]+`\));return\{([^}]*)\}\},\[\](?:,import\.meta\.url)?\)/g

/**
 * Replaces Vite's helper that preloads the imports and styles of a chunk loaded on demand. The page doesn't need it:
 * index.html links one file with all styles, and the browser loads the chunk's few own imports when it reads the chunk.
 * The lists of what the helper would preload and its calls are removed, too.
 */
function withoutPreloadHelper(): Plugin {
  return {
    name: "cuecard:without-preload-helper",
    apply: "build",
    enforce: "pre",
    load: {
      filter: { id: /vite\/preload-helper\.js$/ },
      handler: () => "export const __vitePreload = (load) => load()",
    },
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        for (const chunk of Object.values(bundle)) {
          if (chunk.type !== "chunk") continue
          chunk.code = chunk.code
            .replace(/^const __vite__mapDeps=.*\n/m, "")
            .replace(/,__vite__mapDeps\([^)]*\)/g, ",[]")
            // Calls of the helper become the imports themselves.
            .replace(/\b[\w$]+\(\(\)=>(import\(`[^`]+`\)(?:\.then\([^)]*\))?),\[\](?:,import\.meta\.url)?\)/g, "$1")
            .replace(CALL_FOR_NAMES, (call, taken: string, load: string, returned: string) =>
              taken === returned ? load : call,
            )
          if (chunk.code.includes("__vite__mapDeps")) throw new Error("A list has changed: adapt withoutPreloadHelper.")
        }
      },
    },
  }
}

/**
 * Copies the bundler's helpers into the chunks that import them. The bundler always puts the helpers into a separate
 * chunk, which would be requested only once one of those chunks has arrived, and would delay the transcript by a round
 * trip.
 */
function withoutRuntimeChunk(): Plugin {
  const importOfRuntime = /import\{([^}]*)\}from"\.\/[\w-]*rolldown-runtime-[\w-]+\.js";/
  return {
    name: "cuecard:without-runtime-chunk",
    apply: "build",
    applyToEnvironment: ({ name }) => name === "client",
    // The most common helper creates an object from a module's exports. Getters do the same.
    renderChunk(code) {
      const own = code
        .replace(/\/\* @__PURE__ \*\/ __exportAll\(\{([^{}]*)\}\)/g, (_call, exported: string) => {
          return `{${exported.replace(/([\w$]+): \(\) => ([\w$]+)/g, "get $1() { return $2 }")}}`
        })
        .replace(/^import \{ \w+ as __exportAll \} from "[^"]*rolldown-runtime[^"]*";\n/m, "")
      return { code: own, map: null }
    },
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const chunks = Object.values(bundle).filter((file) => file.type === "chunk")
        const runtime = chunks.find(({ fileName }) => /rolldown-runtime-[\w-]+\.js$/.test(fileName))
        const [, helpers, exported] = /^([\s\S]*)export\{([^}]*)\};?\s*$/.exec(runtime?.code ?? "") ?? []
        if (runtime === undefined || helpers === undefined || exported === undefined) return
        const object = exported.replace(/(\w+) as (\w+)/g, "$2:$1")
        for (const chunk of chunks) {
          chunk.code = chunk.code.replace(importOfRuntime, (_import, names: string) => {
            return `const{${names.replace(/ as /g, ":")}}=(()=>{${helpers}return{${object}}})();`
          })
          if (/from"[^"]*rolldown-runtime/.test(chunk.code))
            throw new Error("An import has changed: adapt withoutRuntimeChunk.")
        }
        delete bundle[runtime.fileName]
      },
    },
  }
}

/**
 * Removes the decoder of HTML entities, with its table of 19 KB. `htmlparser2` imports it, but the sanitiser parses
 * tags without decoding entities.
 */
function withoutEntityDecoder(): Plugin {
  const user = "shared/sanitize/html-token.ts"
  const empty = "\0cuecard:entity-decoder"
  return {
    name: "cuecard:without-entity-decoder",
    apply: "build",
    enforce: "pre",
    resolveId: {
      filter: { id: /^entities\/decode$/ },
      handler: (_id, importer) => (/\/htmlparser2\/dist\/Tokenizer\.js$/.test(importer ?? "") ? empty : null),
    },
    load: {
      filter: { id: /cuecard:entity-decoder$/ },
      handler() {
        if (!readFileSync(user, "utf8").includes("{ decodeEntities: false }")) {
          throw new Error(`${user} has changed: adapt withoutEntityDecoder.`)
        }
        return "export class EntityDecoder {}\nexport const DecodingMode = {}, htmlDecodeTree = null, xmlDecodeTree = null"
      },
    },
  }
}

/** Replaces the comment that names page-head.html with that file's content: the head elements that all pages share. */
function withSharedHead(): Plugin {
  const file = "client/page-head.html"
  return {
    name: "cuecard:with-shared-head",
    transformIndexHtml: {
      order: "pre",
      handler: (html) => html.replace(`<!-- ${file} -->`, () => readFileSync(file, "utf8").trim()),
    },
  }
}

/** Writes the path of the code that draws messages into the page's HTML, for public/start-requests.js. */
function withTranscriptName(): Plugin {
  return {
    name: "cuecard:with-transcript-name",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle = {} }) {
        const file = Object.keys(bundle).find((name) => /\/transcript-[\w-]{8}\.js$/.test(name))
        const script = 'src="/start-requests.js"'
        return file === undefined ? html : html.replace(script, `${script} data-preload="/${file}"`)
      },
    },
  }
}

/** The scripts in the head of the chat page, which run before its modules. */
const HEAD_SCRIPTS = ["theme", "start-requests"]

/**
 * Gives the scripts in the head of the chat page names that contain a hash, like the page's other scripts, so that the
 * page never gets them from another version, and browsers can cache them.
 */
function withHashedScripts(): Plugin {
  const files = HEAD_SCRIPTS.map((name) => {
    const { code } = minifySync(`${name}.js`, readFileSync(`public/${name}.js`, "utf8"), { module: false })
    const hash = createHash("sha256").update(code).digest("base64url").slice(0, 8)
    return { path: `src="/${name}.js"`, code, fileName: `assets/${name}-${hash}.js` }
  })
  return {
    name: "cuecard:with-hashed-scripts",
    apply: "build",
    applyToEnvironment: ({ name }) => name === "client",
    generateBundle() {
      for (const { fileName, code } of files) this.emitFile({ type: "asset", fileName, source: code })
    },
    transformIndexHtml: {
      order: "post",
      handler: (html) =>
        files.reduce((text, { path, fileName }) => text.replace(path, () => `src="/${fileName}"`), html),
    },
  }
}

/**
 * Builds the service worker into the same folder. Browsers request it by a fixed name, which therefore contains no
 * hash.
 */
function withServiceWorker(): Plugin {
  return {
    name: "cuecard:with-service-worker",
    apply: "build",
    applyToEnvironment: ({ name }) => name === "client",
    closeBundle: {
      sequential: true,
      async handler() {
        await build({
          configFile: false,
          build: {
            target: "es2023",
            outDir: "dist/client",
            emptyOutDir: false,
            copyPublicDir: false,
            modulePreload: false,
            rolldownOptions: {
              input: "client/service-worker/service-worker.ts",
              output: { entryFileNames: "service-worker.js", format: "iife" },
            },
          },
        })
      },
    },
  }
}

/**
 * Builds the admin page and the page of shared copies into the same folder, as separate bundles. Chunks that they
 * shared with the chat page would be part of that page's initial load.
 */
function withOtherPages(): Plugin {
  return {
    name: "cuecard:with-other-pages",
    apply: "build",
    applyToEnvironment: ({ name }) => name === "client",
    closeBundle: {
      sequential: true,
      async handler() {
        for (const input of ["admin.html", "share.html"])
          await build({
            configFile: false,
            plugins: [preact(), withSharedHead(), adaptedStyles(), withoutPreloadHelper()],
            build: {
              target: "es2023",
              outDir: "dist/client",
              emptyOutDir: false,
              copyPublicDir: false,
              modulePreload: { polyfill: false },
              rolldownOptions: { input },
            },
          })
      },
    },
  }
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

/**
 * Builds the widget and the page of its frame into the same folder. Other sites load the script by a fixed name, which
 * therefore contains no hash. The script imports the other files, whose names contain hashes, by relative URLs.
 */
function withWidget(): Plugin {
  return {
    name: "cuecard:with-widget",
    apply: "build",
    applyToEnvironment: ({ name }) => name === "client",
    closeBundle: {
      sequential: true,
      async handler() {
        await build({
          configFile: false,
          base: "./",
          plugins: [preact(), adaptedStyles(), withoutPreloadHelper(), withoutRuntimeChunk()],
          build: {
            target: "es2023",
            outDir: "dist/client",
            emptyOutDir: false,
            copyPublicDir: false,
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
      },
    },
  }
}

/**
 * Paths that the Worker handles in `vite dev`. Vite serves the page itself, because hot reload violates the page's
 * content security policy.
 */
const DEV_PATHS = ["/v1/*", "/auth/*", "/healthz", "/external/*", "/media/*", "/canvas/*"]

/**
 * The modules that draw messages and, in the widget, also the conversation around them and its styles. Code that is
 * loaded later uses parts of these modules, which the bundler would otherwise move into many small chunks.
 */
const TRANSCRIPT =
  /\/client\/transcript\/transcript\.tsx$|\/widget\/app\/(?:deferred-views\.tsx|conversation-styles\.ts)$/

/**
 * The code of the initial render and the code that draws messages import these modules, but use only types from them.
 */
const UNUSED_IMPORTS = /\/shared\/(?:fault|json-depth|asset-limits)\.ts$/

/** The module that draws the widget's conversation. The widget's small entry loads it. */
const WIDGET_VIEW = /\/widget\/app\/mount-conversation\.tsx$/

/**
 * Puts the modules of the initial render into one chunk, and the other modules that draw messages into another. Many
 * small chunks compress worse and need more requests.
 */
function splitByView(isFirstView: IsRoot) {
  return [
    {
      name: (id: string, modules: ModuleGraph) =>
        isLoadedWith(id, modules, isFirstView) && !UNUSED_IMPORTS.test(id) ? "base" : null,
      includeDependenciesRecursively: false,
      priority: 2,
    },
    {
      name: (id: string, modules: ModuleGraph) => (drawsMessages(id, modules) ? "transcript" : null),
      includeDependenciesRecursively: false,
      priority: 1,
    },
  ]
}

function drawsMessages(id: string, modules: ModuleGraph): boolean {
  return !UNUSED_IMPORTS.test(id) && isLoadedWith(id, modules, (_info, importer) => TRANSCRIPT.test(importer))
}

/**
 * The decoder of HTML entities. Only tools that are loaded on demand use it, but parts of htmlparser2 that the entry
 * doesn't use import it.
 */
const ENTITY_DECODER = /\/node_modules\/entities\//

/**
 * Puts all modules that the Worker loads with its entry into one chunk, because two chunks would import hundreds of
 * names from each other. Chunks that are loaded on demand keep the modules that only they import.
 */
const workerSplitting = {
  groups: [
    {
      name: (id: string, modules: ModuleGraph) =>
        isLoadedWithEntry(id, modules) && !ENTITY_DECODER.test(id) ? "base" : null,
    },
  ],
}

interface ModuleInfo {
  readonly isEntry: boolean
  readonly importers: readonly string[]
}

type IsRoot = (info: ModuleInfo, id: string) => boolean

interface ModuleGraph {
  getModuleInfo(id: string): ModuleInfo | null
}

/** Whether static imports lead from an entry to the module. */
function isLoadedWithEntry(id: string, modules: ModuleGraph): boolean {
  return isLoadedWith(id, modules, (info) => info.isEntry)
}

/** Whether static imports lead from a module for which `isRoot` returns true to this one. */
function isLoadedWith(id: string, modules: ModuleGraph, isRoot: IsRoot): boolean {
  const seen = new Set([id])
  // The set grows during the iteration.
  for (const reached of seen) {
    const info = modules.getModuleInfo(reached)
    if (info !== null && isRoot(info, reached)) return true
    for (const importer of info?.importers ?? []) seen.add(importer)
  }
  return false
}

/**
 * index.html preloads what its script imports. A chunk loaded on demand preloads nothing (see withoutPreloadHelper).
 */
const modulePreload: BuildEnvironmentOptions["modulePreload"] = {
  polyfill: false,
  resolveDependencies: (_url, paths, { hostType }) => (hostType === "html" ? paths : []),
}

/** Whether `cuecard/client` loads the module when it is imported. Many small chunks would compress worse. */
function isLoadedWithClient(id: string, modules: ModuleGraph): boolean {
  return !/\/sdk\/(?:preact|react|component-hooks)\.ts$/.test(id) && isLoadedWithEntry(id, modules)
}

/**
 * `cuecard/client` and its hooks, minified for browsers, bundlers and Node. The signals package for Preact is replaced
 * with its core. A framework is never part of the bundle.
 */
const SDK_CONFIG: UserConfig = {
  publicDir: false,
  plugins: [withoutPreloadHelper()],
  resolve: { alias: { "@preact/signals": "@preact/signals-core" } },
  build: {
    target: "es2023",
    outDir: "dist/sdk",
    modulePreload: { polyfill: false, resolveDependencies: () => [] },
    rolldownOptions: {
      input: { index: "sdk/index.ts", preact: "sdk/preact.ts", react: "sdk/react.ts" },
      external: ["react", "preact/hooks"],
      preserveEntrySignatures: "strict",
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name]-[hash].js",
        codeSplitting: {
          groups: [{ name: (id, modules) => (isLoadedWithClient(id, modules) ? "client" : null) }],
        },
      },
    },
  },
}

export default defineConfig(({ mode, command, isPreview }) =>
  mode === "sdk"
    ? SDK_CONFIG
    : mode === "testing" || mode === "shared"
      ? {
          publicDir: false,
          plugins: [withoutEntityDecoder()],
          build: {
            ssr: `${mode}/index.ts`,
            outDir: `dist/${mode}`,
            target: "node22",
            emptyOutDir: true,
            rolldownOptions: { output: { entryFileNames: "index.js" } },
          },
        }
      : {
          plugins: [
            preact(),
            withSharedHead(),
            cloudflare({
              persistState: { path: STATE_DIR },
              inspectorPort: false,
              config(config) {
                const isDev = command === "serve" && isPreview !== true
                if (isDev && config.assets !== undefined) config.assets.run_worker_first = DEV_PATHS
              },
            }),
            withoutPaths(),
            withoutEntityDecoder(),
            withoutPreloadHelper(),
            withoutRuntimeChunk(),
            withTranscriptName(),
            withHashedScripts(),
            withOtherPages(),
            withWidget(),
            withServiceWorker(),
          ],
          build: { target: "es2023" },
          server: { host: "127.0.0.1", port: 8787 },
          environments: {
            client: {
              build: {
                modulePreload,
                rolldownOptions: { output: { codeSplitting: { groups: splitByView((info) => info.isEntry) } } },
              },
            },
            cuecard: { build: { minify: true, rolldownOptions: { output: { codeSplitting: workerSplitting } } } },
          },
        },
)
