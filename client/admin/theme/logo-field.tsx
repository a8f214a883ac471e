/** logo-field.tsx: shows the tenant's logo, uploads another one, or removes it. */

import type { VNode } from "preact"
import { useRef } from "preact/hooks"
import type { LogoFlaw } from "../../../shared/fault.ts"
import type { ThemeView } from "../../../shared/theme/page-theme.ts"
import { parseBody, RequestError } from "../../net/http-request.ts"
import { adminText } from "../../words/admin-text.ts"
import { themeText } from "../../words/theme/theme-text.ts"
import type { AdminApi } from "../admin-api.ts"
import { notice, useAction } from "../admin-state.ts"
import { FaultText } from "../form-fields.tsx"

interface LogoFieldProps {
  readonly api: AdminApi
  readonly path: string
  readonly logo: string | null
  readonly parse: (value: unknown) => ThemeView | null
  readonly onChange: (view: ThemeView) => void
}

export function LogoField({ api, path, logo, parse, onChange }: LogoFieldProps): VNode {
  const inputRef = useRef<HTMLInputElement>(null)
  const action = useAction()
  const sendLogo = (init: RequestInit): void =>
    void action.run(async () => {
      onChange(await parseBody(await api.fetchAuthorized(path, init), parse).catch(wordRefusal))
      notice.value = adminText.saved
    })
  return (
    <fieldset class="logo-field">
      <legend>{themeText.logo}</legend>
      {logo !== null && <img src={logo} alt="" />}
      <p class="row-actions">
        <button type="button" disabled={action.isRunning} onClick={() => inputRef.current?.click()}>
          {themeText.chooseLogo}
        </button>
        {logo !== null && (
          <button type="button" disabled={action.isRunning} onClick={() => sendLogo({ method: "DELETE" })}>
            {themeText.removeLogo}
          </button>
        )}
      </p>
      <input
        ref={inputRef}
        type="file"
        accept="image/png"
        hidden
        aria-label={themeText.logo}
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0]
          currentTarget.value = ""
          if (file === undefined) return
          // The file might be something other than a PNG image, because browsers check only its name. The server checks
          // the content.
          sendLogo({ method: "PUT", body: file, headers: { "content-type": "image/png" } })
        }}
      />
      <small>{themeText.logoHint}</small>
      <FaultText text={action.fault} />
    </fieldset>
  )
}

/** Rethrows a refusal with a message for the user, because the server's message contains only the reason. */
function wordRefusal(error: unknown): never {
  if (!(error instanceof RequestError)) throw error
  const text = error.code === "body_too_large" ? themeText.logoTooLarge : findFlawText(error.fields["because"])
  throw text === undefined ? error : new RequestError(error.status, text)
}

function findFlawText(because: unknown): string | undefined {
  return Object.entries<string>(themeText.logoFlaw satisfies Record<LogoFlaw, string>).find(
    ([flaw]) => flaw === because,
  )?.[1]
}
