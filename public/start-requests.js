// Requests what the page needs first, while its scripts are loading. Described in client/net/early-responses.ts.
{
  const signal = AbortSignal.timeout(15_000)
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: "{}", signal }
  const tokenPath = location.protocol === "http:" ? "/v1/dev/token" : "/auth/token"
  const session = /^#\/s\/([\w-]{1,64})$/.exec(location.hash)?.[1]
  const { preload } = document.currentScript.dataset
  if (globalThis.cuecard === undefined) {
    const asked = fetch(tokenPath, post)
    globalThis.earlyResponses = {}
    keepResponse(
      tokenPath,
      asked.then((response) => ({ response })),
    )
    if (session !== undefined) requestHistory(`/v1/sessions/${session}/conversation/recent?limit=24`, asked)
  }
  if (session !== undefined && preload !== undefined) {
    const link = document.createElement("link")
    link.rel = "modulepreload"
    link.href = preload
    document.head.append(link)
  }

  function requestHistory(path, asked) {
    const history = asked.then(async (response) => {
      if (!response.ok) throw new Error("No token")
      const authorization = `Bearer ${(await response.clone().json()).token}`
      return { authorization, response: await fetch(path, { headers: { authorization }, signal }) }
    })
    keepResponse(path, history)
  }

  // If a request fails, the page sends it again.
  function keepResponse(path, early) {
    early.catch(() => {})
    globalThis.earlyResponses[path] = early
  }
}
