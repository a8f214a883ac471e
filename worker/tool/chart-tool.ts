/** chart-tool.ts: a chart of given figures, as the data of a chart card (shared/card/chart-payload.ts). */

import * as v from "valibot"
import {
  CHART_KINDS,
  type ChartPayload,
  MAX_CHART_FIGURE,
  MAX_CHART_LABEL_CHARS,
  MAX_CHART_POINTS,
  MAX_CHART_TITLE_CHARS,
  MAX_CHART_UNIT_CHARS,
} from "../../shared/card/chart-payload.ts"
import { createCardTrailer, createRefusal, type Tool, toolResult } from "./tool.ts"

const argsSchema = v.object({
  title: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(MAX_CHART_TITLE_CHARS)),
  kind: v.optional(v.picklist(CHART_KINDS), "bar"),
  unit: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(MAX_CHART_UNIT_CHARS)), ""),
  data: v.pipe(
    v.array(
      v.object({
        label: v.pipe(v.string(), v.maxLength(MAX_CHART_LABEL_CHARS)),
        value: v.pipe(v.number(), v.minValue(-MAX_CHART_FIGURE), v.maxValue(MAX_CHART_FIGURE)),
      }),
    ),
    v.minLength(1),
    v.maxLength(MAX_CHART_POINTS),
  ),
}) satisfies v.GenericSchema<unknown, ChartPayload>

/** Creates the tool (SPEC CA10). Error: `tool_arguments`. */
export function createChartTool(): Tool {
  return {
    name: "chart",
    description:
      'Draws a chart of the figures in "data": bars to compare things (kind "bar"), a line for a course of time (kind "line", points in order). The user can read every figure and open them as a table.',
    parameters: {
      type: "object",
      properties: {
        title: { type: "string", maxLength: MAX_CHART_TITLE_CHARS },
        kind: { type: "string", enum: [...CHART_KINDS] },
        unit: {
          type: "string",
          maxLength: MAX_CHART_UNIT_CHARS,
          description: 'Written after each figure, such as "%".',
        },
        data: {
          type: "array",
          minItems: 1,
          maxItems: MAX_CHART_POINTS,
          items: {
            type: "object",
            properties: { label: { type: "string", maxLength: MAX_CHART_LABEL_CHARS }, value: { type: "number" } },
            required: ["label", "value"],
            additionalProperties: false,
          },
        },
      },
      required: ["title", "data"],
      additionalProperties: false,
    },
    repeatable: true,
    readsOnly: true,
    // If later context omitted the calls, the model would see only its answers and learn to answer without calling.
    ephemeral: false,
    execute(args, ctx) {
      const parsed = v.safeParse(argsSchema, args)
      if (parsed.success) return toolResult(ctx, parsed.output, createCardTrailer)
      const path = v.getDotPath(parsed.issues[0]) ?? "data"
      return createRefusal("tool_arguments", `"${path}" is missing or invalid.`)
    },
  }
}
