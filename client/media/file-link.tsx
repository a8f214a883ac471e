/**
 * file-link.tsx: a file: what it is, how large, and the way to have it.
 *
 * Its address is asked for when it is wanted. One of ours is handed to the browser; one from elsewhere comes through our
 * own server, so that a refusal can be told. Source: SPEC PG60, PG62, PG63.
 */

import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { parseHost } from "../words/link-policy.ts"
import { moveFocusInto } from "./consent-gate.tsx"
import { MediaIcon } from "./media-icons.tsx"
import { formatExtension, type MediaSegment, formatSize } from "../words/media-descriptions.ts"
import { isOwnMediaUrl, learnKind, DISPLAYABLE_KINDS, type DisplayableKind } from "../files/remote-media.ts"
import { saveBlob, saveHref } from "../ui/save-file.ts"
import { GONE_TEXT, readRefusal, UNREACHABLE_TEXT } from "./load-failure.ts"
import { type MediaContextValue, useMediaContext } from "./use-media-source.ts"

export function FileView({ segment }: { readonly segment: MediaSegment }): VNode {
  const media = useMediaContext()
  const [isDownloading, setDownloading] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const { url, label, mime_type, size } = segment
  const host = parseHost(url)
  const details = [formatExtension(label, mime_type), size === undefined ? "" : formatSize(size), host].filter(
    (one) => one !== "",
  )
  const startDownload = async (container: Element | null): Promise<void> => {
    if (media === null || isDownloading) return
    setDownloading(true)
    setFault(await downloadOrShow(media, segment))
    setDownloading(false)
    moveFocusInto(container)
  }
  return (
    <>
      <button
        type="button"
        class="file"
        aria-label={formatAccessibleName(segment, host, fault)}
        aria-busy={isDownloading}
        onClick={(event) => void startDownload(event.currentTarget.parentElement)}
      >
        <FileIcon label={label} mime={mime_type} />
        <span class="what">
          <b>{label}</b> <small data-fault={fault === null ? undefined : ""}>{fault ?? details.join(" · ")}</small>
        </span>
        <MediaIcon name="download" />
      </button>
      {fault !== null && host !== "" && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          Open it
        </a>
      )}
    </>
  )
}

function formatAccessibleName({ label, size }: MediaSegment, host: string, fault: string | null): string {
  const details = [label, size === undefined ? "" : formatSize(size), host === "" ? "" : `from ${host}`]
  const words = `Download ${details.filter((one) => one !== "").join(", ")}`
  return fault === null ? words : `${words}: ${fault}`
}

function FileIcon({ label, mime }: { readonly label: string; readonly mime?: string | undefined }): VNode {
  const extension = formatExtension(label, mime)
  return (
    <span class="sign" aria-hidden="true">
      {extension === "" ? <MediaIcon name="file" /> : extension}
    </span>
  )
}

/** What lies elsewhere and turns out to be shown is shown, where it stands; anything else is saved. Null, or why not. */
async function downloadOrShow(media: MediaContextValue, { url, label }: MediaSegment): Promise<string | null> {
  return await downloadMedia(media, url, label, (mime) => {
    const kind = mimeToDisplayableKind(mime)
    if (kind !== null) learnKind(url, kind)
    return kind === null
  })
}

function mimeToDisplayableKind(mime: string): DisplayableKind | null {
  return DISPLAYABLE_KINDS.find((kind) => mime.startsWith(`${kind}/`)) ?? null
}

/** Null where it went well, else why not. What `isWanted` does not want, by its type, is not saved. */
export async function downloadMedia(
  { signer }: Pick<MediaContextValue, "signer">,
  url: string,
  label: string,
  shouldSave: (mime: string) => boolean = () => true,
): Promise<string | null> {
  const address = await signer.resolveLink(url)
  if (address.at === "refused") return GONE_TEXT
  if (address.at !== "ready") return UNREACHABLE_TEXT
  if (isOwnMediaUrl(url)) {
    saveHref(address.href, label)
    return null
  }
  try {
    const response = await fetch(address.href)
    if (!response.ok) return await readRefusal(response)
    if (!shouldSave(response.headers.get("content-type") ?? "")) {
      void response.body?.cancel()
      return null
    }
    saveBlob(await response.blob(), label)
    return null
  } catch {
    return UNREACHABLE_TEXT
  }
}
