/**
 * showcase.ts: what the scripted model says when no tool is needed. Words only; each answer is one Markdown text.
 */

import type { Intent } from "./intent.ts"

export interface ScriptedResponse {
  readonly thinking: string
  readonly text: string
}

export function getScriptedResponse(kind: Exclude<Intent["kind"], "weather">): ScriptedResponse {
  switch (kind) {
    case "which_place":
      return {
        thinking: "They ask about the weather, but name no place. I should not guess one.",
        text: "Which city would you like the weather for? You can name several, for example **London and Tokyo**.",
      }
    case "hello":
      return { thinking: "A greeting. I will say what I can do, briefly.", text: HELLO }
    case "thanks":
      return {
        thinking: "They are content. Nothing to look up.",
        text: "You're welcome! Ask me about another city any time.",
      }
    case "help":
      return { thinking: "They want to know what I can do. A short overview with examples will help.", text: HELP }
    case "showcase":
      return { thinking: "They want to see formatting. I will use one of each kind of block.", text: SHOWCASE }
    case "other":
      return {
        thinking: "This is neither about the weather nor something that I can make. I should say so plainly.",
        text: OTHER,
      }
  }
}

const HELLO = `Hello! I am the built-in assistant of Cuecard. I work without a network and I know one trick well: the weather. I also draw, speak and build small documents.

Try **What's the weather in London and in Tokyo?** and watch the answer arrive, cards and all.`

const HELP = `# What I can do

I am the *scripted* model: small, offline and the same every time. I understand questions such as

- What's the weather in London and in Tokyo?
- Will it rain in Paris tomorrow?
- Compare the weather in Oslo with Bergen
- …and then simply: *and in Rome?*

I can make things, too, where my agent has the tools for it:

- Draw a chart of apples 3, pears 5
- Paint a sunset
- Say hello world
- Make a clock canvas

I can also **show markdown**: tables, lists, quotes and code.

## A real model

This page can talk to any OpenAI-compatible endpoint instead. Write into a file named \`.dev.vars\`:

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
| thinking | the model | a line that folds |
| tool call | the model | a badge |
| card | **the tool's own data** | a card |

## A list

1. A tool returns data.
2. The model places it:
   - with words before,
   - and words after.
3. The page draws it.

> The data in a card comes only from the stored tool result, never from the model.

\`\`\`ts
const cities: Array<string> = ["London", "Tokyo"]
for (const city of cities) console.log(\`weather in \${city}\`)
\`\`\`

---

That was one of each.`

const OTHER = `I am Cuecard's built-in, scripted model, so I cannot answer that one. What I can do:

- **What's the weather in London and in Tokyo?**
- **Will it rain in Paris tomorrow?**
- **Draw a chart of apples 3, pears 5**

Say \`help\` for more, or connect a real model.`
