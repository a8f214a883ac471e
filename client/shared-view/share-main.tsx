/** share-main.tsx: the entry point of the page that shows a shared copy. It needs no sign-in and stores nothing. */

import { effect } from "@preact/signals"
import { render } from "preact"
import { startLanguage } from "../ui/preferences/page-language.ts"
import { formatDocumentTitle } from "../words/page-text.ts"
import { sharedViewText } from "../words/shared-view-text.ts"
import { CopyLoader } from "./copy-loader.ts"
import { SharedView } from "./shared-view.tsx"
import "../styles/base.css"
import "../styles/page.css"
import "../styles/narrow-screen.css"
import "../styles/transcript/transcript.css"
import "../styles/transcript/notes.css"
import "../styles/transcript/tool-calls.css"
import "../styles/transcript/agents.css"
import "../styles/transcript/requests.css"
import "../styles/transcript/acts.css"
import "../styles/transcript/prose.css"
import "../styles/transcript/tables.css"
import "../styles/transcript/reading.css"
import "../styles/transcript/formulas.css"
import "../styles/transcript/cards.css"
import "../styles/transcript/chart.css"
import "../styles/transcript/view.css"
import "../styles/transcript/view-form.css"
import "../styles/transcript/view-pictures.css"
import "../styles/transcript/sources.css"
import "../styles/media/media.css"
import "../styles/media/audio.css"
import "../styles/media/canvas.css"
import "../styles/media/canvas-panel.css"
import "../styles/media/files.css"
import "../styles/media/lightbox.css"
import "../styles/right-to-left.css"
import "../styles/print-forced-colors.css"
import "../styles/shared-view/shared-view.css"

const reference = decodeURIComponent(location.pathname.split("/").at(-1) ?? "")
const loader = new CopyLoader(reference, (url, init) => fetch(url, init))

effect(() => {
  const title = loader.head.value?.title ?? ""
  document.title = formatDocumentTitle(title === "" ? sharedViewText.untitled : title)
})

const root = document.getElementById("app")
if (root !== null) startLanguage(() => render(<SharedView loader={loader} />, root))
