/** showcase.ts: the scripted model's answers that need no tool, each a single Markdown string. */

import type { Intent } from "./intent.ts"

export interface ScriptedResponse {
  readonly thinking: string
  readonly text: string
}

export function getScriptedResponse(kind: Exclude<Intent["kind"], "weather">): ScriptedResponse {
  switch (kind) {
    case "which_place":
      return {
        thinking: "They're asking about the weather but didn't name a place. I shouldn't guess one.",
        text: "Which city would you like the weather for? You can name several, for example **London and Tokyo**.",
      }
    case "hello":
      return { thinking: "A greeting. I'll say briefly what I can do.", text: HELLO }
    case "thanks":
      return {
        thinking: "They're happy. Nothing to look up.",
        text: "You're welcome! Ask me about another city any time.",
      }
    case "help":
      return { thinking: "They want to know what I can do. A short overview with examples will help.", text: HELP }
    case "showcase":
      return { thinking: "They want to see formatting. I'll use one block of each kind.", text: SHOWCASE }
    case "other":
      return {
        thinking: "This isn't about the weather or something I can make. I should say so plainly.",
        text: OTHER,
      }
  }
}

const HELLO = `Hello! I'm Cuecard's built-in assistant. I work offline, and weather is what I do best. I can also draw, speak and build small documents.

Try **What's the weather in London and in Tokyo?** and watch the answer arrive, cards and all.`

const HELP = `# What I can do

I am the *scripted* model: small, offline and the same every time. I understand questions such as

- What's the weather in London and in Tokyo?
- Will it rain in Paris tomorrow?
- Compare the weather in Oslo with Bergen
- …and then just: *and in Rome?*

I can also make things, if my agent has the tools for it:

- Draw a chart of apples 3, pears 5
- Paint a sunset
- Say hello world
- Make a clock canvas
- Search for tea

I can also **show markdown**: tables, lists, quotes and code.

## A real model

This page can talk to any OpenAI-compatible endpoint instead. Put this into a file named \`.dev.vars\`:

\`\`\`ini
MODEL=openai
MODEL_BASE_URL=https://api.example.com/v1
MODEL_NAME=some-model
MODEL_API_KEY=…
\`\`\`
`

const SHOWCASE = `# A short showcase

Text can be **bold**, *italic*, ~~struck~~ or \`inline code\`, and it can [link](https://example.com) elsewhere.

## A table

| Part | Comes from | Shown as |
| --- | --- | --- |
| thinking | the model | a collapsible line |
| tool call | the model | a badge |
| card | **the tool's own data** | a card |

## A list

1. A tool returns data.
2. The model places it:
   - with text before it,
   - and text after it.
3. The page draws it.

> The data in a card comes only from the stored tool result, never from the model.

\`\`\`ts
const cities: Array<string> = ["London", "Tokyo"]
for (const city of cities) console.log(\`weather in \${city}\`)
\`\`\`

---

That was one of each.`

const OTHER = `I am Cuecard's built-in, scripted model, so I can't answer that. Here's what I can do:

- **What's the weather in London and in Tokyo?**
- **Will it rain in Paris tomorrow?**
- **Draw a chart of apples 3, pears 5**

Type \`help\` for more, or connect a real model.`
