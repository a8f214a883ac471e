/** chart-tool.ts: a chart of given numbers, as the data of a chart card (shared/card/chart-payload.ts). */

import {
  CHART_KINDS,
  MAX_CHART_FIGURE,
  MAX_CHART_LABEL_CHARS,
  MAX_CHART_POINTS,
  MAX_CHART_TITLE_CHARS,
  MAX_CHART_UNIT_CHARS,
} from "../../shared/card/card-limits.ts"
import { defineTool } from "./define-tool.ts"

/** Creates the tool (SPEC CA10). Error: `tool_arguments`. */
export const createChartTool = () =>
  defineTool({
    description:
      'Draws a chart of the figures in "data": bars to compare things (kind "bar"), a line to show change over time (kind "line", points in order). The user can read every figure and view the data as a table.',
    args: {
      type: "object",
      properties: {
        title: { type: "string", minLength: 1, maxLength: MAX_CHART_TITLE_CHARS },
        kind: { type: "string", enum: CHART_KINDS },
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
            properties: {
              label: { type: "string", maxLength: MAX_CHART_LABEL_CHARS },
              value: { type: "number", minimum: -MAX_CHART_FIGURE, maximum: MAX_CHART_FIGURE },
            },
            required: ["label", "value"],
            additionalProperties: false,
          },
        },
      },
      required: ["title", "data"],
      additionalProperties: false,
    },
    effects: "read",
    repeatable: true,
    card: "component",
    run: ({ title, kind = "bar", unit = "", data }) => ({
      title,
      kind,
      unit,
      data: data.map(({ label, value }) => ({ label, value })),
    }),
  })
