/**
 * send-file.ts: a body on its way up, with how much of it has gone. A request of the old kind: `fetch` does not say.
 */

export interface SendFileResult {
  readonly status: number
  readonly text: string
}

/** Sends it once; `onSent` hears bytes. Rejects where nothing came back, or it was given up. */
export type SendFile = (
  path: string,
  body: Blob,
  token: string,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
) => Promise<SendFileResult>

export const sendFile: SendFile = (path, body, token, onSent, signal) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const rejectRequest = (): void => reject(new TypeError("no answer"))
    request.upload.onprogress = ({ loaded }) => onSent(loaded)
    request.onload = () => resolve({ status: request.status, text: request.responseText })
    request.onerror = rejectRequest
    request.onabort = rejectRequest
    request.open("POST", path)
    request.setRequestHeader("authorization", `Bearer ${token}`)
    request.setRequestHeader("content-type", "application/octet-stream")
    signal.addEventListener("abort", () => request.abort(), { once: true })
    request.send(body)
  })
