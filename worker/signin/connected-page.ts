/**
 * connected-page.ts: the page at the end of a connection to an MCP server. It notifies the open tabs of the chat page
 * and closes itself. Source: SPEC MP12.
 */

import { base64url } from "jose"

interface PageWords {
  readonly done: string
  readonly failed: string
  /** Tells the user what to do if the window stays open. */
  readonly close: string
}

const ENGLISH: PageWords = {
  done: "You are connected.",
  failed: "We couldn't connect your account. Go back to the chat and try again.",
  close: "You can close this window.",
}

const WORDS: ReadonlyMap<string, PageWords> = new Map([
  ["en", ENGLISH],
  [
    "de",
    {
      done: "Sie sind verbunden.",
      failed: "Ihr Konto konnte nicht verbunden werden. Gehen Sie zurück zum Chat und versuchen Sie es noch einmal.",
      close: "Sie können dieses Fenster schließen.",
    },
  ],
  [
    "fr",
    {
      done: "Vous êtes connecté.",
      failed: "Impossible de connecter votre compte. Revenez à la discussion et réessayez.",
      close: "Vous pouvez fermer cette fenêtre.",
    },
  ],
  [
    "es",
    {
      done: "Tu cuenta está conectada.",
      failed: "No se pudo conectar tu cuenta. Vuelve al chat e inténtalo de nuevo.",
      close: "Puedes cerrar esta ventana.",
    },
  ],
  [
    "pt",
    {
      done: "Sua conta está conectada.",
      failed: "Não foi possível conectar sua conta. Volte ao chat e tente novamente.",
      close: "Você pode fechar esta janela.",
    },
  ],
  [
    "ja",
    {
      done: "接続しました。",
      failed: "アカウントを接続できませんでした。チャットに戻って、もう一度お試しください。",
      close: "このウィンドウは閉じて構いません。",
    },
  ],
  ["zh", { done: "已连接。", failed: "无法连接您的账号。请返回聊天并重试。", close: "您可以关闭此窗口。" }],
  [
    "hi",
    {
      done: "आपका खाता कनेक्ट हो गया है।",
      failed: "आपका खाता कनेक्ट नहीं हो सका। चैट पर वापस जाएँ और फिर से कोशिश करें।",
      close: "आप यह विंडो बंद कर सकते हैं।",
    },
  ],
  [
    "ar",
    {
      done: "تم ربط حسابك.",
      failed: "تعذّر ربط حسابك. عد إلى المحادثة وحاول مرة أخرى.",
      close: "يمكنك إغلاق هذه النافذة.",
    },
  ],
  [
    "he",
    {
      done: "החשבון שלך מחובר.",
      failed: "לא הצלחנו לחבר את החשבון שלך. יש לחזור לצ׳אט ולנסות שוב.",
      close: "אפשר לסגור את החלון הזה.",
    },
  ],
])

const RIGHT_TO_LEFT = new Set(["ar", "he"])

/** The server's name is in an attribute, so the script is always the same and the policy can name its hash. */
const SCRIPT = `const { server } = document.documentElement.dataset
if (server !== undefined) {
  new BroadcastChannel("cuecard.connections").postMessage(server)
  close()
}`

const STYLE = `:root { color-scheme: light dark; font: 1.0625rem/1.5 system-ui, sans-serif }
body { max-inline-size: 28rem; margin: 20vh auto; padding-inline: 1.5rem; text-align: center }`

/** Creates the page. `server`: the name of the server, which matches `mcpNameSchema`; null if the connection failed. */
export async function createConnectedPage({
  server,
  languages,
}: {
  readonly server: string | null
  readonly languages: string | null
}): Promise<Response> {
  const language = chooseLanguage(languages)
  const { done, failed, close } = WORDS.get(language) ?? ENGLISH
  const direction = RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr"
  const attribute = server === null ? "" : ` data-server="${server}"`
  const text = server === null ? failed : `${done} ${close}`
  const html = `<!doctype html>
<html lang="${language}" dir="${direction}"${attribute}>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Cuecard</title>
<style>${STYLE}</style>
<p role="status">${text}</p>
<script>${SCRIPT}</script>
`
  const policy = [
    "default-src 'none'",
    `script-src '${await hashSource(SCRIPT)}'`,
    `style-src '${await hashSource(STYLE)}'`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ")
  return new Response(html, {
    status: server === null ? 400 : 200,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    },
  })
}

/** Returns the first language of `Accept-Language` in which the page is available. */
function chooseLanguage(header: string | null): string {
  const accepted = (header ?? "").slice(0, 200).split(",")
  const found = accepted.map((range) => range.trim().slice(0, 2).toLowerCase()).find((code) => WORDS.has(code))
  return found ?? "en"
}

async function hashSource(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))
  // Policies require standard base64 with padding, not base64url.
  const encoded = base64url.encode(digest).replaceAll("-", "+").replaceAll("_", "/")
  return `sha256-${encoded}=`
}
