/**
 * stdio-bridge.ts: makes an MCP server that uses stdio (npm `@modelcontextprotocol/server-filesystem`) available over
 * HTTP. It handles one request at a time.
 */

import { type ChildProcess, spawn } from "node:child_process"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createInterface } from "node:readline"

const SCRIPT = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"

export interface StdioBridge {
  readonly child: ChildProcess
  answer(request: IncomingMessage, reply: ServerResponse): Promise<void>
}

/** Starts the server, which gives access to the files in one folder. */
export function startFilesystem(folder: string): StdioBridge {
  const child = spawn(process.execPath, [SCRIPT, folder], { stdio: ["pipe", "pipe", "ignore"] })
  const waiting = new Map<unknown, (line: string) => void>()
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, method } = JSON.parse(line)
    if (method === undefined) waiting.get(id)?.(line)
  })
  return {
    child,
    async answer(request, reply) {
      let text = ""
      for await (const chunk of request.setEncoding("utf8")) text += chunk
      const { id } = JSON.parse(text)
      const answered = new Promise<string>((resolve) => waiting.set(id, resolve))
      child.stdin.write(`${text}\n`)
      if (id === undefined) return void reply.writeHead(202).end()
      reply.writeHead(200, { "content-type": "application/json" }).end(await answered)
    },
  }
}
