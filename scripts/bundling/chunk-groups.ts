/** chunk-groups.ts: decides which modules share a chunk in the page, the widget, the Worker and the SDK. Pure. */

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

/**
 * Puts the modules of the initial render into one chunk, and the other modules that draw messages into another. Many
 * small chunks compress worse and need more requests.
 */
export function splitByView(isFirstView: IsRoot) {
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
 * The HTML entity decoder. Only tools that are loaded on demand use it, but parts of htmlparser2 that the entry doesn't
 * use import it.
 */
const ENTITY_DECODER = /\/node_modules\/entities\//

/**
 * Puts all modules that the Worker loads with its entry into one chunk, because two chunks would import hundreds of
 * names from each other. Chunks that are loaded on demand keep the modules that only they import.
 */
export const workerSplitting = {
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

/** Whether an entry reaches the module through static imports. */
function isLoadedWithEntry(id: string, modules: ModuleGraph): boolean {
  return isLoadedWith(id, modules, (info) => info.isEntry)
}

/** Whether a module for which `isRoot` returns true reaches this module through static imports. */
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

/** Whether `cuecard/client` loads the module when it is imported. Many small chunks would compress worse. */
export function isLoadedWithClient(id: string, modules: ModuleGraph): boolean {
  return !/\/sdk\/(?:preact|react|component-hooks)\.ts$/.test(id) && isLoadedWithEntry(id, modules)
}
