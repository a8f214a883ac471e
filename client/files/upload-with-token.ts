/** upload-with-token.ts: uploads a body with a valid token. */

import type { Api } from "../net/api.ts"
import type { SendFile, SendFileResult } from "./send-file.ts"

export interface UploadDeps {
  readonly api: Pick<Api, "getToken" | "forgetToken">
  readonly sendFile: SendFile
}

/** Uploads `body`. If the server refuses the token, uploads it once more with a new token. */
export async function uploadWithToken(
  { api, sendFile }: UploadDeps,
  path: string,
  body: Blob,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<SendFileResult> {
  const sendOnce = async (): Promise<SendFileResult> => {
    const { token } = await api.getToken()
    signal.throwIfAborted()
    return await sendFile(path, body, token, onSent, signal)
  }
  const response = await sendOnce()
  if (response.status !== 401) return response
  api.forgetToken()
  return await sendOnce()
}
