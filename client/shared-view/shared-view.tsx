/**
 * shared-view.tsx: a shared copy: its title, when and by whom it was shared, and its messages. Source: SPEC SR9, SR10.
 */

import { signal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { Transcript } from "../transcript/transcript.tsx"
import { ScrollAnchor } from "../transcript/scroll-anchor.ts"
import { Logo } from "../ui/logo.tsx"
import { formatDate } from "../words/format/date-format.ts"
import { appText } from "../words/page-text.ts"
import { sharedViewText } from "../words/shared-view-text.ts"
import type { CopyLoader } from "./copy-loader.ts"
import { createReaderRequests } from "./reader-requests.ts"

const NO_ENTRIES = signal([])
const ONLINE = signal(true)

export function SharedView({ loader }: { readonly loader: CopyLoader }): VNode {
  const state = loader.state.value
  const isShown = loader.head.value !== null
  useEffect(() => void loader.loadNext(), [loader])
  if (!isShown && state === "loading")
    return (
      <main class="shared-view">
        <p class="note loading">{sharedViewText.loading}</p>
      </main>
    )
  if (!isShown) return <Unavailable loader={loader} />
  return <CopyMessages loader={loader} />
}

function Unavailable({ loader }: { readonly loader: CopyLoader }): VNode {
  const isGone = loader.state.value === "gone"
  return (
    <main class="shared-gone">
      <Logo />
      <h1>{isGone ? sharedViewText.gone : sharedViewText.failed}</h1>
      {isGone ? <p>{sharedViewText.goneHint}</p> : <RetryButton loader={loader} />}
    </main>
  )
}

function RetryButton({ loader }: { readonly loader: CopyLoader }): VNode {
  return (
    <button type="button" disabled={loader.isLoading.value} onClick={() => void loader.loadNext()}>
      {sharedViewText.retry}
    </button>
  )
}

function CopyMessages({ loader }: { readonly loader: CopyLoader }): VNode {
  const scrollAnchor = useMemo(() => createStaticAnchor(), [])
  const viewRef = useRef<HTMLElement>(null)
  const contentRef = useRef<HTMLDivElement>(null)
  const requests = useMemo(() => createReaderRequests(loader.store, loader.signUrls), [loader])
  useEffect(() => {
    const [view, content] = [viewRef.current, contentRef.current]
    return view === null || content === null ? undefined : scrollAnchor.attachTo(view, content)
  }, [scrollAnchor])
  return (
    <div class="shared-view">
      <main class="view" ref={viewRef}>
        <div class="column" ref={contentRef}>
          <CopyHeading loader={loader} />
          <h2 class="visually-hidden">{appText.messages}</h2>
          <Transcript
            store={loader.store}
            unsent={NO_ENTRIES}
            scrollAnchor={scrollAnchor}
            isOnline={ONLINE}
            requests={requests}
            onRetry={() => {}}
            onDiscard={() => {}}
          />
          {loader.hasMore.value && <MoreButton loader={loader} />}
        </div>
      </main>
    </div>
  )
}

function CopyHeading({ loader }: { readonly loader: CopyLoader }): VNode {
  const { title = "", created = 0, author = null } = loader.head.value ?? {}
  const day = formatDate(created, { dateStyle: "long" })
  return (
    <header class="shared-head">
      <h1 dir="auto">{title === "" ? sharedViewText.untitled : title}</h1>
      <p>{author === null ? sharedViewText.on(day) : sharedViewText.by(author, day)}</p>
      <p>{sharedViewText.note}</p>
    </header>
  )
}

function MoreButton({ loader }: { readonly loader: CopyLoader }): VNode {
  return (
    <>
      {loader.state.value === "failed" && (
        <p class="note fault" role="alert">
          {sharedViewText.failed}
        </p>
      )}
      <button
        type="button"
        class="more-messages"
        aria-disabled={loader.isLoading.value}
        onClick={() => void loader.loadNext()}
      >
        {loader.isLoading.value ? sharedViewText.loading : sharedViewText.more}
      </button>
    </>
  )
}

/** Creates an anchor that never follows the end, because a copy is read from its beginning and never grows. */
function createStaticAnchor(): ScrollAnchor {
  const anchor = new ScrollAnchor(() => {})
  anchor.stopFollowing()
  return anchor
}
