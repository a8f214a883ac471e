// Described in client/ui/preferences/theme.ts.
function applyTheme(theme) {
  const isChosen = theme === "dark" || theme === "light"
  if (isChosen) document.documentElement.dataset.theme = theme
  else delete document.documentElement.dataset.theme
  document.querySelector("meta[name=color-scheme]").content = isChosen ? theme : "light dark"
  for (const meta of document.querySelectorAll("meta[name=theme-color]")) {
    const { scheme } = meta.dataset
    meta.media = isChosen ? (scheme === theme ? "all" : "not all") : `(prefers-color-scheme: ${scheme})`
  }
}
// Described in client/ui/preferences/show-theme.ts.
const tenantTheme = document.querySelector("meta[name=cuecard-theme]")?.content
if (tenantTheme) {
  globalThis.cuecardTheme = JSON.parse(tenantTheme)
  for (const [name, value] of Object.entries(globalThis.cuecardTheme.properties))
    document.documentElement.style.setProperty(name, value)
}
try {
  applyTheme(localStorage.getItem("cuecard.theme"))
  // Described in client/sidebar/hide-sidebar.tsx.
  if (localStorage.getItem("cuecard.sidebar")) document.documentElement.dataset.sidebar = "hidden"
} catch {}
