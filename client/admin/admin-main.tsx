/** admin-main.tsx: the entry of the admin page. */
import { signal } from "@preact/signals"
import { render } from "preact"
import { TokenSource } from "../net/token-source.ts"
import { Dialog } from "../ui/dialog.tsx"
import { Logo } from "../ui/logo.tsx"
import { CopyButton } from "../ui/copy-button.tsx"
import { createUserGuard } from "../account/user-guard.ts"
import { saveBlob } from "../ui/save-file.ts"
import { cycleTheme } from "../ui/theme.ts"
import { appText } from "../words/page-text.ts"
import { tokenResponse, userMenu } from "../account/deferred-account.ts"
import "../styles/base.css"
import "../styles/dialog.css"
import "../styles/account.css"
console.log(signal, new TokenSource({} as never), createUserGuard, saveBlob, cycleTheme, tokenResponse, userMenu)
const root = document.getElementById("app")
if (root !== null)
  render(
    <Dialog title={appText.name} onCancel={() => {}}>
      <Logo />
      <CopyButton getText={() => ""} label="" text="" doneText="" />
    </Dialog>,
    root,
  )
