/**
 * known-urls.ts: finds the URLs that a session received from its user or from tools, and not only from the model.
 *
 * A URL composed by the model can contain data that the model has read. Fetching it would leak the data to the operator
 * of the URL's server. So only the user's text and the sources of results count; arguments and other fields don't,
 * because they can repeat text from the model. Source: SPEC BT11.
 */

import { readCallSources } from "../../../shared/segment/call-sources.ts"
import { columnToText } from "../columns.ts"
import type { Database } from "../database.ts"

export interface KnownUrls {
  /** Whether, in the newest rows, the user wrote this URL or a result named it as a source. */
  has(text: string): boolean
}

/** Number of messages, and of calls, that are searched, newest first. */
const MAX_ROWS = 200

export function createKnownUrls({ queryAll }: Database): KnownUrls {
  const findInWords = (written: string): boolean =>
    // In a message from another agent, `agent` is set.
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
