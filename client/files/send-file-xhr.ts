/**
 * send-file-xhr.ts: uploads a file with XMLHttpRequest, because `fetch` does not report upload progress. Browsers only.
 */

import type { SendFile } from "./send-file.ts"

export const sendFile: SendFile = (path, body, token, onSent, signal) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const rejectRequest = (): void => reject(new TypeError("No response"))
    request.upload.onprogress = ({ loaded }) => onSent(loaded)
    request.onload = () => {
      const { status, responseText: text } = request
      resolve({ status, text, retryAfter: request.getResponseHeader("retry-after") })
    }
    request.onerror = rejectRequest
    request.onabort = rejectRequest
    request.open("POST", path)
    request.setRequestHeader("authorization", `Bearer ${token}`)
    request.setRequestHeader("content-type", "application/octet-stream")
    signal.addEventListener("abort", () => request.abort(), { once: true })
    request.send(body)
  })
