/** site.js: serves index.html, and returns a Cuecard token for a user of this site. */

import { readFileSync } from "node:fs"
import { createServer } from "node:http"

const { CUECARD_URL = "http://127.0.0.1:8787", CUECARD_KEY = "", PORT = "3000" } = process.env
const page = readFileSync(new URL("index.html", import.meta.url), "utf8").replace("CUECARD_URL", CUECARD_URL)

async function requestToken() {
  // A real site checks its own session cookie here, and names the user who is signed in.
  return await fetch(`${CUECARD_URL}/v1/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${CUECARD_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ user: "visitor" }),
  })
}

createServer(async ({ method, url }, response) => {
  if (method === "POST" && url === "/chat-token") {
    const answer = await requestToken()
    response.writeHead(answer.ok ? 200 : 502, { "content-type": "application/json" })
    response.end(await answer.text())
    return
  }
  response.writeHead(url === "/" ? 200 : 404, { "content-type": "text/html" })
  response.end(url === "/" ? page : "")
}).listen(Number(PORT), () => console.log(`http://localhost:${PORT}`))
