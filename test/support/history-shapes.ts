/** history-shapes.ts: generates conversations, and writes each conversation in the file format of each system. */

import fc from "fast-check"

export interface TalkCall {
  readonly name: string
  readonly args: Readonly<Record<string, string>>
  readonly result: string
  readonly isError: boolean
}

/** One model call: thinking, then text, then tool calls that run in parallel. */
export interface TalkStep {
  readonly thinking: string
  readonly text: string
  readonly calls: readonly TalkCall[]
  /** Whether the results arrive in reverse order. */
  readonly isReversed: boolean
}

export interface TalkTurn {
  readonly question: string
  readonly steps: readonly TalkStep[]
}

export interface Talk {
  readonly turns: readonly TalkTurn[]
  /** Whether the ids of calls repeat, because some systems number the calls of each step from 0. */
  readonly reusesIds: boolean
}

const word = fc.constantFrom("wind", "été", "漢字", "🙂", "a_b", "c*d", "1.", "x<y", "&amp;", "12 °C", "{}", "[1]")
const sentence = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => `t${words.join(" ")}.`)
const call: fc.Arbitrary<TalkCall> = fc.record({
  name: fc.constantFrom("weather", "read", "mcp__docs__search", "grep"),
  args: fc.dictionary(fc.constantFrom("q", "path", "n"), sentence, { maxKeys: 2, noNullPrototype: true }),
  result: fc.oneof(
    sentence,
    sentence.map((text) => JSON.stringify({ text })),
    sentence.map((text) => `${text}\n\n${text}`),
  ),
  isError: fc.boolean(),
})
const step: fc.Arbitrary<TalkStep> = fc.record({
  thinking: fc.oneof(fc.constant(""), sentence),
  text: fc.oneof({ weight: 1, arbitrary: fc.constant("") }, { weight: 3, arbitrary: sentence }),
  calls: fc.array(call, { maxLength: 3 }),
  isReversed: fc.boolean(),
})
const turn: fc.Arbitrary<TalkTurn> = fc.record({
  question: sentence,
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
})

export const talk: fc.Arbitrary<Talk> = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
  reusesIds: fc.boolean(),
})

/** A format, with the features that it can express. */
export interface Shape {
  readonly name: string
  /** The values of the file: one per line, or one document. */
  readonly values: (talk: Talk) => unknown[]
  readonly hasThinking: boolean
  readonly hasErrors: boolean
  /** Whether each call is directly followed by its result, and calls have no ids. */
  readonly isLines: boolean
}

interface NamedCall extends TalkCall {
  readonly id: string
}

interface NamedStep extends Omit<TalkStep, "calls"> {
  readonly id: string
  readonly calls: readonly NamedCall[]
  readonly results: readonly NamedCall[]
}

interface NamedTurn {
  readonly id: string
  readonly question: string
  readonly steps: readonly NamedStep[]
}

/** Adds ids to turns, steps and calls. */
function nameTurns({ turns, reusesIds }: Talk): NamedTurn[] {
  return turns.map(({ question, steps }, t) => ({
    id: `q${t}`,
    question,
    steps: steps.map((one, s) => {
      const calls = one.calls.map((known, c) => ({ ...known, id: reusesIds ? `call_${c}` : `call_${t}_${s}_${c}` }))
      return { ...one, id: `a${t}_${s}`, calls, results: one.isReversed ? calls.toReversed() : calls }
    }),
  }))
}

const time = (index: number): string => new Date(1_770_000_000_000 + index * 1000).toISOString()
const stamp = <T extends object>(values: readonly T[]): (T & { timestamp: string })[] =>
  values.map((value, index) => ({ ...value, timestamp: time(index) }))

function anthropicMessages(talk: Talk): { role: string; content: unknown; id?: string }[] {
  return nameTurns(talk).flatMap(({ question, steps }) => [
    { role: "user", content: [{ type: "text", text: question }] },
    ...steps.flatMap(({ id, thinking, text, calls, results }) => [
      {
        id,
        role: "assistant",
        content: [
          ...(thinking === "" ? [] : [{ type: "thinking", thinking, signature: "c2ln" }]),
          ...(text === "" ? [] : [{ type: "text", text, citations: null }]),
          ...calls.map(({ id: callId, name, args }) => ({ type: "tool_use", id: callId, name, input: args })),
        ],
      },
      ...(results.length === 0
        ? []
        : [
            {
              role: "user",
              content: results.map((done) => ({
                type: "tool_result",
                tool_use_id: done.id,
                content: [{ type: "text", text: done.result }],
                is_error: done.isError,
              })),
            },
          ]),
    ]),
  ])
}

function chatMessages(talk: Talk): object[] {
  return nameTurns(talk).flatMap(({ question, steps }): object[] => [
    { role: "user", content: question },
    ...steps.flatMap(({ text, calls, results }): object[] => [
      {
        role: "assistant",
        content: text === "" ? null : text,
        tool_calls: calls.map(({ id, name, args }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(args) },
        })),
      },
      ...results.map(({ id, result }) => ({ role: "tool", tool_call_id: id, content: result })),
    ]),
  ])
}

function responseItems(talk: Talk): object[] {
  return nameTurns(talk).flatMap(({ question, steps }): object[] => [
    { type: "message", role: "user", content: [{ type: "input_text", text: question }] },
    ...steps.flatMap(({ id, thinking, text, calls, results }): object[] => [
      ...(thinking === ""
        ? []
        : [{ type: "reasoning", id: `rs_${id}`, summary: [{ type: "summary_text", text: thinking }] }]),
      ...(text === ""
        ? []
        : [
            {
              type: "message",
              id: `msg_${id}`,
              role: "assistant",
              content: [{ type: "output_text", text, annotations: [] }],
            },
          ]),
      ...calls.map(({ id: call_id, name, args }) => ({
        type: "function_call",
        call_id,
        name,
        arguments: JSON.stringify(args),
      })),
      ...results.map(({ id: call_id, result }) => ({ type: "function_call_output", call_id, output: result })),
    ]),
  ])
}

/** Returns one line per block and one line per result. */
function claudeCodeLines(talk: Talk): object[] {
  const lines = anthropicMessages(talk).flatMap(({ role, content, id }) => {
    const blocks = content as object[]
    if (role === "user")
      return blocks.map((block) => ({ type: "user", uuid: "u", message: { role, content: [block] } }))
    const split = blocks.length === 0 ? [[]] : blocks.map((block) => [block])
    return split.map((one) => ({ type: "assistant", uuid: "a", message: { id, role, type: "message", content: one } }))
  })
  return stamp(lines)
}

function codexLines(talk: Talk): object[] {
  return stamp(responseItems(talk).map((payload) => ({ type: "response_item", payload })))
}

function piMessages(talk: Talk): object[] {
  return nameTurns(talk).flatMap(({ question, steps }): object[] => [
    { role: "user", content: question },
    ...steps.flatMap(({ thinking, text, calls, results }): object[] => [
      {
        role: "assistant",
        content: [
          ...(thinking === "" ? [] : [{ type: "thinking", thinking }]),
          ...(text === "" ? [] : [{ type: "text", text }]),
          ...calls.map(({ id, name, args }) => ({ type: "toolCall", id, name, arguments: args })),
        ],
        stopReason: calls.length > 0 ? "toolUse" : "stop",
      },
      ...results.map(({ id, name, result, isError }) => ({
        role: "toolResult",
        toolCallId: id,
        toolName: name,
        content: [{ type: "text", text: result }],
        isError,
      })),
    ]),
  ])
}

function piLines(talk: Talk): object[] {
  const entries = piMessages(talk).map((message, index) => ({
    type: "message",
    id: `e${index}`,
    parentId: null,
    message,
  }))
  return stamp([{ type: "session", version: 3, id: "s", cwd: "/" }, ...entries])
}

/** Returns one row per turn. The results are stored beside the blocks, so ids must be unique. */
function kagedRows(talk: Talk): object[] {
  return nameTurns({ ...talk, reusesIds: false }).flatMap(({ id, question, steps }): object[] => {
    const contentBlocks = steps.flatMap(({ thinking, text, calls }) => [
      ...(thinking === "" ? [] : [{ type: "thinking", thinking }]),
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...calls.map(({ id: callId, name, args }) => ({ type: "toolCall", id: callId, name, arguments: args })),
    ])
    const results = steps.flatMap((step) => step.results)
    const toolResults = Object.fromEntries(
      results.map((done) => [done.id, { content: done.result, isError: done.isError }]),
    )
    const content = steps.map(({ text }) => text).join("")
    return [
      { id, role: "user", content: question },
      { id: `${id}a`, role: "assistant", content, metadata: { contentBlocks, toolResults } },
    ]
  })
}

function chatGptDocument(talk: Talk): unknown[] {
  const messages: object[] = nameTurns(talk).flatMap(({ question, steps }): object[] => [
    { author: { role: "user" }, content: { content_type: "text", parts: [question] } },
    ...steps.flatMap(({ thinking, text, calls }): object[] => [
      ...(thinking === ""
        ? []
        : [
            {
              author: { role: "assistant" },
              content: { content_type: "thoughts", thoughts: [{ summary: "", content: thinking }] },
            },
          ]),
      { author: { role: "assistant" }, recipient: "all", content: { content_type: "text", parts: [text] } },
      ...calls.flatMap(({ name, args, result }) => [
        {
          author: { role: "assistant" },
          recipient: name,
          content: { content_type: "code", text: JSON.stringify(args) },
        },
        { author: { role: "tool", name }, recipient: "all", content: { content_type: "text", parts: [result] } },
      ]),
    ]),
  ])
  const nodes = messages.map((message, index) => {
    const parent = index === 0 ? "root" : `n${index - 1}`
    // Within a branch, times can go backwards.
    return [
      `n${index}`,
      {
        id: `n${index}`,
        parent,
        children: [],
        message: { id: `n${index}`, create_time: 1_770_000_000 - index, ...message },
      },
    ] as const
  })
  const mapping = { ...Object.fromEntries(nodes), root: { id: "root", parent: null, message: null, children: ["n0"] } }
  return [{ title: "Talk", current_node: `n${messages.length - 1}`, mapping }]
}

function claudeAiDocument(talk: Talk): unknown[] {
  const chat_messages = nameTurns(talk).flatMap(({ id, question, steps }): object[] => [
    {
      uuid: id,
      sender: "human",
      text: question,
      content: [{ type: "text", text: question }],
      attachments: [],
      files: [],
    },
    {
      uuid: `${id}a`,
      sender: "assistant",
      text: "",
      content: steps.flatMap(({ thinking, text, calls }): object[] => [
        ...(thinking === "" ? [] : [{ type: "thinking", thinking }]),
        ...(text === "" ? [] : [{ type: "text", text, citations: [] }]),
        ...calls.flatMap(({ name, args, result, isError }) => [
          { type: "tool_use", name, input: args },
          { type: "tool_result", name, content: [{ type: "text", text: result }], is_error: isError },
        ]),
      ]),
    },
  ])
  return [{ name: "Talk", chat_messages }]
}

export const SHAPES: readonly Shape[] = [
  { name: "Anthropic messages", values: anthropicMessages, hasThinking: true, hasErrors: true, isLines: true },
  { name: "OpenAI chat", values: chatMessages, hasThinking: false, hasErrors: false, isLines: true },
  { name: "OpenAI responses", values: responseItems, hasThinking: true, hasErrors: false, isLines: true },
  { name: "Claude Code", values: claudeCodeLines, hasThinking: true, hasErrors: true, isLines: true },
  { name: "Codex", values: codexLines, hasThinking: true, hasErrors: false, isLines: true },
  { name: "Pi", values: piLines, hasThinking: true, hasErrors: true, isLines: true },
  { name: "kaged", values: kagedRows, hasThinking: true, hasErrors: true, isLines: true },
  { name: "ChatGPT", values: chatGptDocument, hasThinking: true, hasErrors: false, isLines: false },
  { name: "Claude.ai", values: claudeAiDocument, hasThinking: true, hasErrors: true, isLines: false },
]
