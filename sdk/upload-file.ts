/** upload-file.ts: uploads a file with progress, in browsers and in Node. Loaded when the first file is uploaded. */

import { sendFile as sendFileByXhr } from "../client/files/send-file-xhr.ts"
import type { SendFile } from "../client/files/send-file.ts"
import { uploadAttachment } from "../client/files/upload-attachment.ts"
import type { ClientEnvironment } from "../client/net/client-environment.ts"
import { sendWithRateLimitRetry } from "../client/net/rate-limit-retry.ts"
import type { Attachment } from "./client-types.ts"
import type { OwnFetch } from "./open-sessions.ts"

/** Bytes that are read at a time. */
const CHUNK_BYTES = 64 * 1024

export interface FileUpload {
  readonly file: Blob
  readonly name: string | undefined
  readonly signal: AbortSignal | undefined
  onProgress(bytes: number): void
}

/** Uploads a file. Throws RequestError if the server refuses it. */
export async function uploadFile(
  { api, origin }: ClientEnvironment,
  session: string,
  ownFetch: OwnFetch | undefined,
  { file, name, signal, onProgress }: FileUpload,
): Promise<Attachment> {
  const isFile = file instanceof File
  const named = isFile && name === undefined ? file : new File([file], name ?? "file", { type: file.type })
  const sendOnce = selectSendFile(ownFetch)
  const sendFile: SendFile = (path, ...rest) => sendWithRateLimitRetry(api.hold, () => sendOnce(origin + path, ...rest))
  return await uploadAttachment(session, { api, sendFile }, named, onProgress, signal ?? new AbortController().signal)
}

/**
 * Selects the function that sends a file. In browsers, only XMLHttpRequest reports progress. If the caller has passed a
 * `fetch`, that is used for everything.
 */
function selectSendFile(ownFetch: OwnFetch | undefined): SendFile {
  if (ownFetch === undefined && typeof XMLHttpRequest === "function") return sendFileByXhr
  const isNode = typeof XMLHttpRequest !== "function"
  return createFetchSender(ownFetch ?? fetch, isNode)
}

/**
 * `canStream`: whether `fetch` can send a stream of a given length, as in Node. Otherwise, progress is reported only at
 * the end.
 */
function createFetchSender(send: OwnFetch, canStream: boolean): SendFile {
  return async (url, body, token, onSent, signal) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/octet-stream",
      "content-length": String(body.size),
    }
    const request = { method: "POST", headers, signal, body: canStream ? countBytes(body, onSent) : body }
    // Node needs `duplex` for a stream. The type of RequestInit doesn't have it.
    const response = await send(url, canStream ? Object.assign(request, { duplex: "half" }) : request)
    onSent(body.size)
    return { status: response.status, text: await response.text(), retryAfter: response.headers.get("retry-after") }
  }
}

/** Reads the file in chunks as it is sent. Before each chunk, reports the number of bytes read so far. */
function countBytes(body: Blob, onSent: (bytes: number) => void): ReadableStream<Uint8Array> {
  let offset = 0
  return new ReadableStream({
    async pull(controller) {
      onSent(offset)
      const chunk = await body.slice(offset, offset + CHUNK_BYTES).arrayBuffer()
      offset += chunk.byteLength
      if (chunk.byteLength > 0) controller.enqueue(new Uint8Array(chunk))
      if (offset >= body.size) controller.close()
    },
  })
}
