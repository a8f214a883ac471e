/** output-plugins.ts: Vite plugins that remove code that the built page, Worker and packages don't need. */

import { existsSync, readFileSync, writeFileSync } from "node:fs"
import type { Plugin } from "vite"

/** Removes the build machine's paths from the built configuration, which is part of the package. */
export function withoutPaths(): Plugin {
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

/** A call to the helper that takes only some exports of the imported chunk. */
const CALL_FOR_NAMES =
  /\b[\w$]+\(async\(\)=>\{let\{([^}]*)\}=await (import\(`[^`]+`\));return\{([^}]*)\}\},\[\](?:,import\.meta\.url)?\)/g

/**
 * Replaces Vite's helper that preloads the imports and styles of a chunk loaded on demand. The page doesn't need it:
 * index.html links one file with all styles, and the browser loads the chunk's few own imports when it reads the chunk.
 * Calls to the helper and its lists of files to preload are removed, too.
 */
export function withoutPreloadHelper(): Plugin {
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
            // Calls to the helper become plain imports.
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
export function withoutRuntimeChunk(): Plugin {
  const importOfRuntime = /import\{([^}]*)\}from"\.\/[\w-]*rolldown-runtime-[\w-]+\.js";/
  return {
    name: "cuecard:without-runtime-chunk",
    apply: "build",
    applyToEnvironment: ({ name }) => name === "client",
    // The most common helper creates an object from a module's exports. An object with getters replaces it.
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
 * Removes the HTML entity decoder, with its table of 19 KB. `htmlparser2` imports it, but the sanitiser parses tags
 * without decoding entities.
 */
export function withoutEntityDecoder(): Plugin {
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
