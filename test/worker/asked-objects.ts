/** asked-objects.ts: bindings that record which objects are asked. */

import { env } from "cloudflare:test"

const NAMESPACES = ["SESSION", "DIRECTORY", "TENANT", "REGISTRY"] as const

/** `asked` has an entry for each stub that was made: `SESSION acme:s1`. */
export function recordAskedObjects() {
  const asked: string[] = []
  const record = (name: (typeof NAMESPACES)[number]) => ({
    getByName(key: string, options?: DurableObjectNamespaceGetDurableObjectOptions) {
      asked.push(`${name} ${key}`)
      return env[name].getByName(key, options)
    },
  })
  return { asked, over: Object.fromEntries(NAMESPACES.map((name) => [name, record(name)])) }
}
