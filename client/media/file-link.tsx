/**
 * file-link.tsx: a file with its name and size, and a button that downloads it.
 *
 * The URL is requested when the user presses the button. Stored files are downloaded by the browser. Remote files are
 * fetched by the page through the Cuecard server, so that the page can show why a file was refused. SPEC PG60, PG62,
 * PG63.
 */

import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { DISPLAYABLE_KINDS, type DisplayableKind, isAssetUrl } from "../files/remote-media.ts"
import { saveBlob, saveHref } from "../ui/save-file.ts"
import { formatSize } from "../words/format/file-size.ts"
import { parseHost } from "../words/format/link-policy.ts"
import { formatList } from "../words/format/list-format.ts"
import { formatExtension, type MediaSegment } from "../words/media-descriptions.ts"
import { mediaText } from "../words/parts/media-text.ts"
import { moveFocusInto } from "./consent-gate.tsx"
import { describeLoadFault, type LoadFault, readLoadFault } from "./load-failure.ts"
import { learnKind } from "./loading/allowed-media.ts"
import { type MediaContextValue, useMediaContext } from "./loading/media-context.ts"
import { MediaIcon } from "./media-icons.tsx"

export function FileView({ segment }: { readonly segment: MediaSegment }): VNode {
  const { url, label, mime_type, size } = segment
  const { isDownloading, fault, startDownload } = useFileDownload(segment)
  const host = parseHost(url)
  const details = [formatExtension(label, mime_type), size === undefined ? "" : formatSize(size), host]
  const faultText = fault === null ? null : describeLoadFault(fault)
  return (
    <>
      <button
        type="button"
        class="file"
        aria-label={formatAccessibleName(segment, host, faultText)}
        aria-busy={isDownloading}
        onClick={(event) => void startDownload(event.currentTarget.parentElement)}
      >
        <FileIcon label={label} mime={mime_type} />
        <span class="what">
          <b dir="auto">{label}</b>{" "}
          <small data-fault={fault === null ? undefined : ""}>
            {faultText ?? details.filter(isNotEmpty).join(" · ")}
          </small>
        </span>
        <MediaIcon name="download" />
      </button>
      {fault !== null && host !== "" && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {mediaText.openInNewTab}
        </a>
      )}
    </>
  )
}

function useFileDownload(segment: MediaSegment) {
  const media = useMediaContext()
  const [isDownloading, setDownloading] = useState(false)
  const [fault, setFault] = useState<LoadFault | null>(null)
  const startDownload = async (container: Element | null): Promise<void> => {
    if (media === null || isDownloading) return
    setDownloading(true)
    setFault(await downloadOrShow(media, segment))
    setDownloading(false)
    moveFocusInto(container)
  }
  return { isDownloading, fault, startDownload }
}

function isNotEmpty(text: string): boolean {
  return text !== ""
}

function formatAccessibleName({ label, size }: MediaSegment, host: string, fault: string | null): string {
  const details = [label, size === undefined ? "" : formatSize(size), host === "" ? "" : mediaText.hostOfFile(host)]
  const name = mediaText.downloadFile(formatList(details.filter(isNotEmpty)))
  return fault === null ? name : mediaText.named(name, fault)
}

function FileIcon({ label, mime }: { readonly label: string; readonly mime?: string | undefined }): VNode {
  const extension = formatExtension(label, mime)
  return (
    <span class="sign" aria-hidden="true">
      {extension === "" ? <MediaIcon name="file" /> : extension}
    </span>
  )
}

/** Shows a remote file that turns out to be an image, audio or video; saves any other. Returns null or the fault. */
async function downloadOrShow(media: MediaContextValue, { url, label }: MediaSegment): Promise<LoadFault | null> {
  return await downloadMedia(media, url, label, (mime) => {
    const kind = mimeToDisplayableKind(mime)
    if (kind !== null) learnKind(url, kind)
    return kind === null
  })
}

function mimeToDisplayableKind(mime: string): DisplayableKind | null {
  return DISPLAYABLE_KINDS.find((kind) => mime.startsWith(`${kind}/`)) ?? null
}

/** Saves a file. A remote file is saved only if `shouldSave` accepts its type. Returns null or the fault. */
export async function downloadMedia(
  { signer }: Pick<MediaContextValue, "signer">,
  url: string,
  label: string,
  shouldSave: (mime: string) => boolean = () => true,
): Promise<LoadFault | null> {
  const link = await signer.resolveLink(url)
  if (link.at === "refused") return "gone"
  if (link.at !== "ready") return "unreachable"
  if (isAssetUrl(url)) {
    saveHref(link.href, label)
    return null
  }
  try {
    const response = await fetch(link.href)
    if (!response.ok) return await readLoadFault(response)
    if (!shouldSave(response.headers.get("content-type") ?? "")) {
      void response.body?.cancel()
      return null
    }
    saveBlob(await response.blob(), label)
    return null
  } catch {
    return "unreachable"
  }
}
