/** find-access-rule.ts: finds the access rule for a request. */

import { type AccessRule, SESSION_RULES } from "./access-table.ts"

/**
 * Returns the rule for a request; undefined if there is no such route. A HEAD request is treated like a GET request.
 */
export async function findAccessRule(method: string, path: string): Promise<AccessRule | undefined> {
  const ruleMethod = method === "HEAD" ? "GET" : method
  const segments = path.split("/")
  const matches = (rule: AccessRule): boolean =>
    rule.method === ruleMethod && matchesPath(rule.path.split("/"), segments)
  const found = SESSION_RULES.find(matches)
  if (found !== undefined || segments[1] !== "v1") return found
  // The table is loaded with the administration routes, so that it is not part of the Worker's entry.
  const { ADMINISTRATION_RULES } = await import("./administration-rules.ts")
  return ADMINISTRATION_RULES.find(matches)
}

function matchesPath(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, i) => (part.startsWith(":") ? segments[i] !== "" : part === segments[i]))
  )
}
