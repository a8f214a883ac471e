/** main.jsx: a chat in Preact: a list of conversations, the open one, files, approvals, versions. */

import { createClient } from "cuecard/client"
import { useConversation, useSessions } from "cuecard/preact"
import { render } from "preact"
import { useState } from "preact/hooks"

const url = new URLSearchParams(location.search).get("server") ?? "http://127.0.0.1:8787"

/** In a product, your backend issues the token. */
async function getToken() {
  const headers = { "content-type": "application/json" }
  const response = await fetch(`${url}/v1/dev/token`, { method: "POST", headers, body: "{}" })
  return (await response.json()).token
}

const client = createClient({ url, getToken, storage: localStorage })
// Sends what an earlier page could not send.
client.resume().catch(() => {})

function App() {
  const [openId, setOpenId] = useState(null)
  const { sessions } = useSessions(client)
  const createSession = async () => setOpenId((await client.sessions.create({ title: "New conversation" })).id)
  return (
    <div class="layout">
      <nav aria-label="Conversations">
        <button type="button" onClick={createSession}>
          New conversation
        </button>
        {sessions.map(({ id, title }) => (
          <button key={id} type="button" aria-current={id === openId} onClick={() => setOpenId(id)}>
            {title}
          </button>
        ))}
      </nav>
      {openId !== null && <Chat key={openId} id={openId} />}
    </div>
  )
}

function Chat({ id }) {
  const { conversation, messages, unsent, activeAnswer, hasOlder, connection } = useConversation(client, id)
  return (
    <main>
      {hasOlder && (
        <button type="button" onClick={() => conversation.loadOlder()}>
          Older messages
        </button>
      )}
      {messages.map((message) => (
        <Message key={message.id} message={message} conversation={conversation} />
      ))}
      {unsent.map(({ id: unsentId, content, error }) => (
        <article key={unsentId} data-role="user">
          {content} {error === null ? "…" : error.message}
        </article>
      ))}
      <Composer conversation={conversation} />
      {activeAnswer !== null && (
        <button type="button" onClick={() => conversation.cancel()}>
          Stop
        </button>
      )}
      <p role="status">{connection === "live" ? "" : connection}</p>
    </main>
  )
}

function Message({ message, conversation }) {
  const { id, role, status, segments, version = 1, versions = 1 } = message
  return (
    <article data-role={role} data-status={status}>
      {segments.map((segment, index) => (
        <Segment key={index} segment={segment} conversation={conversation} />
      ))}
      {versions > 1 && (
        <button type="button" onClick={() => conversation.selectVersion(id, (version % versions) + 1)}>
          Version {version} of {versions}
        </button>
      )}
    </article>
  )
}

function Segment({ segment, conversation }) {
  if (segment.type === "text") return <p dir="auto">{segment.content}</p>
  if (segment.type === "rich") return <p dir="auto">{segment.synthesis}</p>
  if (segment.type === "media") {
    // A segment's URL can't be fetched without a signature.
    const openFile = async () => location.assign((await conversation.getMediaUrl(segment.url)) ?? "#")
    return (
      <button type="button" onClick={openFile}>
        {segment.label}
      </button>
    )
  }
  if (segment.type !== "tool") return null
  return (
    <p>
      {segment.name}: {segment.status}{" "}
      {segment.status === "waiting" && (
        <>
          <button type="button" onClick={() => conversation.approve(segment.call_id)}>
            Allow
          </button>
          <button type="button" onClick={() => conversation.deny(segment.call_id)}>
            Deny
          </button>
        </>
      )}
    </p>
  )
}

function Composer({ conversation }) {
  const [sentBytes, setSentBytes] = useState(null)
  const send = async (event) => {
    event.preventDefault()
    const form = event.currentTarget
    const data = new FormData(form)
    const files = data.getAll("files").filter(({ size }) => size > 0)
    form.reset()
    const attachments = []
    for (const file of files) attachments.push(await conversation.attach(file, { onProgress: setSentBytes }))
    setSentBytes(null)
    // If the server refuses the message, the reason is shown with it.
    conversation.send(data.get("text"), { attachments })
  }
  return (
    <form onSubmit={send}>
      <input name="text" aria-label="Message" autocomplete="off" />
      <input name="files" type="file" multiple aria-label="Files" />
      <button type="submit">Send</button>
      {sentBytes !== null && <progress aria-label="Upload" />}
    </form>
  )
}

render(<App />, document.getElementById("root"))
