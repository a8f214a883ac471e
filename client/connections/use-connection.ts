/**
 * use-connection.ts: opens the window in which the user grants access, and detects when that is done. Source: SPEC
 * MP12.
 */

import { useEffect, useState } from "preact/hooks"
import type { Api } from "../net/api.ts"
import { describeError } from "../net/http-request.ts"
import { startConnection } from "./connections-api.ts"

/**
 * The page that is shown after the user has granted access sends the server's name on this channel
 * (worker/signin/connected-page.ts).
 */
const CHANNEL = "cuecard.connections"

const WINDOW_FEATURES = "popup,width=520,height=720"

export interface ConnectionState {
  readonly status: "idle" | "waiting" | "connected"
  /** Why the window could not be opened; empty if it could. */
  readonly fault: string
  connect(): void
}

/**
 * Returns the state of a connection. `onConnected` is called when the user has granted access in any window of this
 * browser.
 */
export function useConnection(api: Api, server: string, onConnected: () => void = () => {}): ConnectionState {
  const [status, setStatus] = useState<ConnectionState["status"]>("idle")
  const [fault, setFault] = useState("")
  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL)
    channel.onmessage = ({ data }) => {
      if (data !== server) return
      setStatus("connected")
      onConnected()
    }
    return () => channel.close()
  }, [server])
  const connect = (): void => {
    // Browsers open windows only during a click, so the window opens first and gets its URL later.
    const opened = window.open("about:blank", "_blank", WINDOW_FEATURES)
    setFault("")
    setStatus("waiting")
    startConnection(api, server).then(
      (url) => openUrl(opened, url),
      (error: unknown) => {
        opened?.close()
        setStatus("idle")
        setFault(describeError(error))
      },
    )
  }
  return { status, fault, connect }
}

/** Opens the URL in the given window or, if the browser opened none, in this one. */
function openUrl(opened: Window | null, url: string): void {
  if (opened === null) return location.assign(url)
  // A page on another site must not navigate this one.
  opened.opener = null
  opened.location.replace(url)
}
