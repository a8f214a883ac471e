/** token-keys.tsx: shows and rotates the keys that sign the tenant's tokens. For owners only. Source: SPEC AD3. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { keysText } from "../../words/admin-text.ts"
import type { AdminApi } from "../admin-api.ts"
import { parseTokenKeys, type TokenKey } from "../admin-responses.ts"
import { notice, useLoaded } from "../admin-state.ts"
import { FormDialog } from "../confirm-dialog.tsx"
import { Detail, Pending, Time } from "../form-fields.tsx"

const TOKEN_KEYS_PATH = "/v1/token-keys"

export function TokenKeys({ api }: { readonly api: AdminApi }): VNode {
  const list = useLoaded(() => api.get(TOKEN_KEYS_PATH, parseTokenKeys))
  const isAsking = useSignal(false)
  const revokesTokens = useSignal(false)
  return (
    <section>
      <h2>{keysText.tokenKeys}</h2>
      <p class="lead">{keysText.tokenKeysLead}</p>
      <Pending of={list} />
      <ul class="rows" aria-label={keysText.tokenKeys}>
        {list.value?.keys.map(({ generation, created, retires }) => (
          <TokenKeyRow key={generation} generation={generation} created={created} retires={retires} />
        ))}
      </ul>
      <p>
        <button type="button" onClick={() => (isAsking.value = true)}>
          {keysText.rotateTokens}
        </button>
      </p>
      {isAsking.value && (
        <FormDialog
          title={keysText.rotateTokensTitle}
          submit={keysText.confirmRotateTokens}
          onClose={() => (isAsking.value = false)}
          onSubmit={async () => {
            const body = revokesTokens.peek() ? { retire_seconds: 0 } : {}
            list.set(await api.send("POST", `${TOKEN_KEYS_PATH}/rotate`, body, parseTokenKeys))
            notice.value = keysText.tokensRotated
          }}
        >
          <p>{keysText.rotateTokensText}</p>
          <label class="check">
            <input
              type="checkbox"
              checked={revokesTokens.value}
              onChange={(event) => (revokesTokens.value = event.currentTarget.checked)}
            />
            <span>{keysText.endTokens}</span>
          </label>
        </FormDialog>
      )}
    </section>
  )
}

function TokenKeyRow({ generation, created, retires }: TokenKey): VNode {
  return (
    <li>
      <div class="row-main">
        <p class="row-title">{keysText.generation(generation)}</p>
        <dl>
          {created !== null && (
            <Detail label={keysText.created}>
              <Time at={created} />
            </Detail>
          )}
          {retires !== null && (
            <Detail label={keysText.accepted}>
              <Time at={retires} />
            </Detail>
          )}
        </dl>
        {retires === null && <p class="row-note">{keysText.signs}</p>}
      </div>
    </li>
  )
}
