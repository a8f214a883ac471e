/** upload-with-token.ts: uploads a body with a valid token. */

import type { Api } from "../net/api.ts"
import { loadRateWait, type RequestHold } from "../net/request-hold.ts"
import type { SendFile, SendFileResult } from "../net/send-file.ts"

export interface UploadDeps {
  readonly api: Pick<Api, "getToken" | "forgetToken">
  readonly sendFile: SendFile
  /** Holds uploads while the server refuses more requests. */
  readonly hold?: RequestHold | undefined
}

/** If the server refuses the token, the upload is repeated once with a new one; if it asks for a wait, after that. */
export async function uploadWithToken(
  { api, sendFile, hold }: UploadDeps,
  path: string,
  body: Blob,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<SendFileResult> {
  const sendOnce = async (): Promise<SendFileResult> => {
    await hold?.end
    const { token } = await api.getToken()
    signal.throwIfAborted()
    return await sendFile(path, body, token, onSent, signal)
  }
  const send = async (): Promise<SendFileResult> => {
    const response = await sendOnce()
    if (response.status !== 401) return response
    api.forgetToken()
    return await sendOnce()
  }
  const response = await send()
  if (response.status !== 429 || hold === undefined) return response
  return await (await loadRateWait()).repeatUpload(hold, response, send)
}
