/**
 * known-urls.ts: finds the URLs that a session received from its user or from tools, and not only from the model.
 *
 * A URL composed by the model can contain data that the model has read, and would leak it to the operator of that
 * server. So only the user's text and the sources of results count, and never arguments or other fields, which can
 * repeat the model. Source: SPEC BT11.
 */

import { readCallSources } from "../../../shared/segment/call-sources.ts"
import { columnToText } from "../columns.ts"
import type { Database } from "../database.ts"

export interface KnownUrls {
  /** Whether the user wrote this URL, or a result named it as a source, among the newest rows. */
  has(text: string): boolean
}

/** Messages and calls that are searched, newest first. */
const MAX_ROWS = 200

export function createKnownUrls({ queryAll }: Database): KnownUrls {
  const findInWords = (written: string): boolean =>
    // Messages of other agents have an agent.
    queryAll("SELECT role, agent, words FROM transcript ORDER BY pos DESC LIMIT ?", MAX_ROWS).some(
      ({ role, agent, words }) =>
        role === "user" && agent === null && columnToText(words).toLowerCase().includes(written),
    )
  const findInSources = (href: string): boolean =>
    queryAll("SELECT status, result FROM tool_calls ORDER BY pos DESC, part DESC LIMIT ?", MAX_ROWS).some(
      ({ status, result }) => status === "ok" && readCallSources(columnToText(result)).some(({ url }) => url === href),
    )
  return {
    has(text) {
      if (!URL.canParse(text)) return false
      const url = new URL(text)
      url.hash = ""
      // Users often omit the scheme and the trailing slash.
      const written = url.href.replace(/^https?:\/\//, "").replace(/\/$/, "")
      return findInWords(written.toLowerCase()) || findInSources(url.href)
    },
  }
}
