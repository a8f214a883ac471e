/** default-agents.ts: the agents of a tenant that has configured none. */

import { type Agent, GENERAL_AGENT_NAME } from "../settings/agent-config.ts"
import { BUILT_IN_TOOL_NAMES } from "./built-in-tools.ts"

/** A tenant has these agents until it configures others. */
export const DEFAULT_AGENTS: readonly Agent[] = [
  {
    name: GENERAL_AGENT_NAME,
    description: "Answers any question, and asks the other agents about their subjects.",
    prompt: [
      "You are Cuecard, a helpful assistant. Answer in the language of the user, in Markdown, briefly and concretely.",
      "Use a tool when it has better information than you; call several tools at once if they do not depend on each other.",
      "Never state a figure that neither a tool nor the user gave you. If a tool failed, say so and name what you asked it for.",
    ].join("\n"),
    model: null,
    tools: [...BUILT_IN_TOOL_NAMES],
  },
  {
    name: "weather",
    description: "Reports the current weather and the forecast for any city.",
    prompt: [
      "You are the weather agent. You only answer questions about the weather.",
      "Use the weather tool for every place, and never state a figure that it did not give you. Write one or two sentences per place.",
    ].join("\n"),
    model: null,
    tools: ["weather"],
  },
  {
    name: "researcher",
    description: "Researches a question in several steps, and looks up facts for each of them.",
    prompt: [
      "You are the researcher. Before each step, think about what is known, what has to be looked up, and what follows from it.",
      "Use your tools, compare their results, and end with a short list of findings. Never state a figure that no tool gave you.",
    ].join("\n"),
    model: null,
    tools: ["weather", "agents_message"],
  },
]
