/** asking-mcp.ts: tools of an MCP server that ask the user in a given number of rounds before they return. */

import { fromJsonSchema, inputRequired, type InputRequests, type McpServer } from "@modelcontextprotocol/server"

/** A tool's requests to the user, round by round. */
export type AskedRounds = readonly InputRequests[]

const TEXT_SCHEMA = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
} as const

/** Returns the state of a round. It contains characters that a faulty client would corrupt. */
const stateOf = (round: number): string => `round ${round} "é\u0000\ud83d\ude00" \\n`

/** A form with one field of each kind. */
export const BOOKING_FORM = {
  message: "Who travels?\n<b>Two</b> seats are left.",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Name", description: "As in the passport.", minLength: 2, maxLength: 40 },
      email: { type: "string", title: "Email", format: "email" },
      day: { type: "string", title: "Day", format: "date" },
      seats: { type: "integer", title: "Seats", minimum: 1, maximum: 2, default: 1 },
      class: {
        type: "string",
        title: "Class",
        oneOf: [
          { const: "eco", title: "Economy" },
          { const: "first", title: "First" },
        ],
      },
      meals: { type: "array", title: "Meals", items: { type: "string", enum: ["Lunch", "Dinner"] }, maxItems: 2 },
      window: { type: "boolean", title: "Window seat", default: true },
    },
    required: ["name", "seats", "class"],
  },
} as const

/** Called for each tool call. `isAnswered`: whether the call contains the answers to the last round. */
export type OnCall = (text: string, isAnswered: boolean) => Promise<void> | void

/**
 * Adds the tools `ask` and `look`, which behave alike. Their result contains the answers and the state of the last
 * round.
 */
export function addAskingTools(server: McpServer, rounds: AskedRounds, onCall: OnCall = () => {}): void {
  for (const name of ["ask", "look"]) {
    const config = { description: "Asks the user.", inputSchema: fromJsonSchema<{ text: string }>(TEXT_SCHEMA) }
    server.registerTool(name, config, async ({ text }, { mcpReq }) => {
      const state = mcpReq.requestState<string>()
      const round = rounds.findIndex((_round, at) => stateOf(at) === state) + 1
      const inputRequests = rounds[round]
      await onCall(text, inputRequests === undefined)
      if (inputRequests !== undefined) return inputRequired({ inputRequests, requestState: stateOf(round) })
      const answers = mcpReq.inputResponses ?? {}
      return { content: [{ type: "text", text: JSON.stringify({ text, answers, isSameState: round > 0 }) }] }
    })
  }
}
