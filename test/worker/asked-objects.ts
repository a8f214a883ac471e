/** asked-objects.ts: bindings that record which objects are called. */

import { env } from "cloudflare:test"

const NAMESPACES = ["SESSION", "DIRECTORY", "TENANT", "REGISTRY"] as const

/**
 * Returns bindings that add an entry to the list `asked` for each stub that is created, such as `SESSION acme:s1`.
 */
export function recordAskedObjects() {
  const asked: string[] = []
  const recordNamespace = (name: (typeof NAMESPACES)[number]) => ({
    getByName(key: string, options?: DurableObjectNamespaceGetDurableObjectOptions) {
      asked.push(`${name} ${key}`)
      return env[name].getByName(key, options)
    },
  })
  return { asked, over: Object.fromEntries(NAMESPACES.map((name) => [name, recordNamespace(name)])) }
}
