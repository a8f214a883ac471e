/**
 * file-link.tsx: a file: what it is, how large, and the way to have it.
 *
 * Its address is asked for when it is wanted. One of ours is handed to the browser; one from elsewhere comes through our
 * own server, so that a refusal can be told. Source: SPEC PG39, PG40.
 */

import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { hostOf } from "../words/link-policy.ts"
import { handOn } from "./consent-gate.tsx"
import { Icon } from "./media-icons.tsx"
import { endingOf, type MediaSegment, sizeWords } from "../words/media-descriptions.ts"
import { GONE, isOwn, learn, refusalIn, SHOWN, type ShownKind, UNREACHED } from "../files/remote-media.ts"
import { type Media, useMedia } from "./use-media-source.ts"

/** The browser has begun the download by then, in milliseconds. */
const REVOKE_MS = 60_000

export function FileView({ segment }: { readonly segment: MediaSegment }): VNode {
  const media = useMedia()
  const [isComing, setComing] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const { url, label, mime_type, size } = segment
  const host = hostOf(url)
  const about = [endingOf(label, mime_type), size === undefined ? "" : sizeWords(size), host].filter(
    (one) => one !== "",
  )
  const fetchIt = async (place: Element | null): Promise<void> => {
    if (media === null || isComing) return
    setComing(true)
    setFault(await have(media, segment))
    setComing(false)
    handOn(place)
  }
  return (
    <>
      <button
        type="button"
        class="file"
        aria-label={heardAs(segment, host, fault)}
        aria-busy={isComing}
        onClick={(event) => void fetchIt(event.currentTarget.parentElement)}
      >
        <FileSign label={label} mime={mime_type} />
        <span class="what">
          <b>{label}</b> <small data-fault={fault === null ? undefined : ""}>{fault ?? about.join(" · ")}</small>
        </span>
        <Icon name="download" />
      </button>
      {fault !== null && host !== "" && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          Open it
        </a>
      )}
    </>
  )
}

function heardAs({ label, size }: MediaSegment, host: string, fault: string | null): string {
  const about = [label, size === undefined ? "" : sizeWords(size), host === "" ? "" : `from ${host}`]
  const words = `Download ${about.filter((one) => one !== "").join(", ")}`
  return fault === null ? words : `${words}: ${fault}`
}

function FileSign({ label, mime }: { readonly label: string; readonly mime?: string | undefined }): VNode {
  const ending = endingOf(label, mime)
  return (
    <span class="sign" aria-hidden="true">
      {ending === "" ? <Icon name="file" /> : ending}
    </span>
  )
}

/** What lies elsewhere and turns out to be shown is shown, where it stands; anything else is saved. Null, or why not. */
async function have(media: Media, { url, label }: MediaSegment): Promise<string | null> {
  return await download(media, url, label, (mime) => {
    const kind = kindOfType(mime)
    if (kind !== null) learn(url, kind)
    return kind === null
  })
}

function kindOfType(mime: string): ShownKind | null {
  return SHOWN.find((kind) => mime.startsWith(`${kind}/`)) ?? null
}

/** Null where it went well, else why not. What `isWanted` does not want, by its type, is not saved. */
export async function download(
  { signer }: Pick<Media, "signer">,
  url: string,
  label: string,
  isWanted: (mime: string) => boolean = () => true,
): Promise<string | null> {
  const address = await signer.fresh(url)
  if (address.at === "refused") return GONE
  if (address.at !== "ready") return UNREACHED
  if (isOwn(url)) {
    save(address.href, label)
    return null
  }
  try {
    const response = await fetch(address.href)
    if (!response.ok) return await refusalIn(response)
    if (!isWanted(response.headers.get("content-type") ?? "")) {
      void response.body?.cancel()
      return null
    }
    const href = URL.createObjectURL(await response.blob())
    save(href, label)
    setTimeout(() => URL.revokeObjectURL(href), REVOKE_MS)
    return null
  } catch {
    return UNREACHED
  }
}

function save(href: string, name: string): void {
  const link = document.createElement("a")
  link.href = href
  link.download = name
  link.click()
}
