/**
 * answer-notifications.ts: tells the user that a long answer is ready while the page is in the background.
 *
 * Off until the user switches it on, which is also when the browser asks for permission. Source: SPEC WR34.
 */

import { type ReadonlySignal, signal } from "@preact/signals"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import { openStorage } from "../ui/browser-storage.ts"
import { writingText } from "../words/writing-text.ts"

const STORAGE_KEY = "cuecard.notify"

/** Shorter answers end before a user has looked elsewhere, in milliseconds. */
const LONG_ANSWER_MS = 8_000

const isOn = signal(false)

/** Whether the user wants notifications and the browser allows them. */
export const isNotifying: ReadonlySignal<boolean> = isOn

export function canNotify(): boolean {
  return typeof Notification === "function"
}

export function restoreNotifying(): void {
  isOn.value = canNotify() && Notification.permission === "granted" && openStorage().getItem(STORAGE_KEY) === "on"
}

/** Asks for permission if necessary. Returns false if the browser refuses. */
export async function switchNotifying(wanted: boolean): Promise<boolean> {
  const isAllowed = !wanted || (await Notification.requestPermission()) === "granted"
  isOn.value = wanted && isAllowed
  openStorage().setItem(STORAGE_KEY, isOn.peek() ? "on" : "off")
  return isAllowed
}

/** Whether an answer that has just ended is worth a notification. */
export function deservesNotification({ status, metrics }: WireMessage, isHidden: boolean): boolean {
  return isHidden && isEnded(status) && status !== "cancelled" && (metrics?.ms ?? 0) >= LONG_ANSWER_MS
}

/** Shows a notification. It has no text of the conversation, because others may see the screen. */
export function notifyAboutAnswer(message: WireMessage, title: string): void {
  if (!isOn.peek() || !deservesNotification(message, document.hidden)) return
  const notification = new Notification(title, { body: writingText.notification, tag: message.id })
  notification.onclick = () => {
    focus()
    notification.close()
  }
}
