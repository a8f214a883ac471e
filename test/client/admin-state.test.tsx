/** admin-state.test.tsx: the state shared by the sections of the admin page. */

import { signal, useSignalEffect } from "@preact/signals"
import type { VNode } from "preact"
import { expect, test } from "vitest"
import { useLoaded } from "../../client/admin/admin-state.ts"
import { draw, until } from "./dom.ts"

test("[AD9] an effect that reloads a list sends one request per change", async () => {
  const changes = signal(0)
  let requests = 0
  function Section(): VNode {
    const list = useLoaded(async () => ++requests)
    useSignalEffect(() => {
      if (changes.value > 0) void list.reload()
    })
    return <p>{list.value}</p>
  }
  const root = draw(<Section />)
  await until(() => expect(root.textContent).toBe("1"))
  changes.value = 1
  await until(() => expect(root.textContent).toBe("2"))
  // If the effect depended on the list, the second response would trigger further requests. Give them time to arrive.
  for (let frames = 0; frames < 5; frames++) await new Promise((drawn) => requestAnimationFrame(drawn))
  expect(requests).toBe(2)
})
