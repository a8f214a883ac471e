/**
 * answer-notifications.ts: tells the user that a long answer is ready while the page is in the background.
 *
 * Notifications are off until the user turns them on. Turning them on makes the browser ask for permission. Source:
 * SPEC WR34.
 */

import { type ReadonlySignal, signal } from "@preact/signals"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import { openPreferences } from "../ui/preferences/preference-storage.ts"
import { writingText } from "../words/writing-text.ts"

const STORAGE_KEY = "cuecard.notify"

/**
 * Minimum duration of an answer for a notification, in milliseconds. Shorter answers end before the user has looked
 * elsewhere.
 */
const LONG_ANSWER_MS = 8_000

const isOn = signal(false)

/** Whether the user wants notifications and the browser allows them. */
export const isNotifying: ReadonlySignal<boolean> = isOn

export function canNotify(): boolean {
  return typeof Notification === "function"
}

export function restoreNotifying(): void {
  isOn.value = canNotify() && Notification.permission === "granted" && openPreferences().getItem(STORAGE_KEY) === "on"
}

/** Turns notifications on or off. Asks for permission if necessary; returns false if the browser refuses. */
export async function switchNotifying(wanted: boolean): Promise<boolean> {
  const isAllowed = !wanted || (await Notification.requestPermission()) === "granted"
  isOn.value = wanted && isAllowed
  openPreferences().setItem(STORAGE_KEY, isOn.peek() ? "on" : "off")
  return isAllowed
}

/** Whether an answer that has just ended is worth a notification. */
export function deservesNotification({ status, metrics }: WireMessage, isHidden: boolean): boolean {
  return isHidden && isEnded(status) && status !== "cancelled" && (metrics?.ms ?? 0) >= LONG_ANSWER_MS
}

/** Shows a notification. It contains no text from the conversation, because other people may see the screen. */
export async function notifyAboutAnswer(message: WireMessage, title: string): Promise<void> {
  if (!isOn.peek() || !deservesNotification(message, document.hidden)) return
  const { hash } = location
  const options: NotificationOptions = { body: writingText.notification, tag: message.id, data: hash }
  try {
    const registration = await findServiceWorker()
    if (registration !== undefined) return await registration.showNotification(title, options)
    const notification = new Notification(title, options)
    notification.onclick = () => {
      focus()
      location.hash = hash
      notification.close()
    }
  } catch {
    // On phones, only a service worker can show a notification.
  }
}

/** Returns the page's active service worker; undefined if there is none, for example over plain HTTP. */
async function findServiceWorker(): Promise<ServiceWorkerRegistration | undefined> {
  const { serviceWorker } = navigator as { readonly serviceWorker?: ServiceWorkerContainer }
  const registration = await serviceWorker?.getRegistration()
  return registration?.active == null ? undefined : registration
}
