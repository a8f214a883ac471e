/**
 * file.tsx: a file: what it is, how large, and the way to have it.
 *
 * Its address is asked for when it is wanted. One of ours is handed to the browser; one from elsewhere comes through our
 * own server, so that a refusal can be told. Source: SPEC PG39, PG40.
 */

import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { hostOf } from "../markdown/links.ts"
import { Icon } from "./icons.tsx"
import { endingOf, type MediaSegment, sizeWords } from "./media-words.ts"
import { isOwn } from "./remote.ts"
import { type Media, useMedia } from "./source.ts"

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
  const fetchIt = async (): Promise<void> => {
    if (media === null || isComing) return
    setComing(true)
    setFault(await download(media, url, label))
    setComing(false)
  }
  return (
    <>
      <button
        type="button"
        class="file"
        aria-label={`Download ${label}${size === undefined ? "" : `, ${sizeWords(size)}`}${host === "" ? "" : `, from ${host}`}${fault === null ? "" : `: ${fault}`}`}
        aria-busy={isComing}
        onClick={() => void fetchIt()}
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

function FileSign({ label, mime }: { readonly label: string; readonly mime?: string | undefined }): VNode {
  const ending = endingOf(label, mime)
  return (
    <span class="sign" aria-hidden="true">
      {ending === "" ? <Icon name="file" /> : ending}
    </span>
  )
}

/** Null where it went well, else why not. */
export async function download({ signer }: Pick<Media, "signer">, url: string, label: string): Promise<string | null> {
  const address = await signer.fresh(url)
  if (address.at === "refused") return "It is no longer available."
  if (address.at !== "ready") return "It could not be loaded."
  if (isOwn(url)) {
    save(address.href, label)
    return null
  }
  try {
    const response = await fetch(address.href)
    if (!response.ok) return String(Reflect.get(Object(await response.json()), "text") ?? "It could not be loaded.")
    const href = URL.createObjectURL(await response.blob())
    save(href, label)
    setTimeout(() => URL.revokeObjectURL(href), REVOKE_MS)
    return null
  } catch {
    return "It could not be loaded."
  }
}

function save(href: string, name: string): void {
  const link = document.createElement("a")
  link.href = href
  link.download = name
  link.click()
}
