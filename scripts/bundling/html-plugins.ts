/** html-plugins.ts: Vite plugins that complete the HTML of the pages. */

import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { minifySync, type Plugin } from "vite"

/** Replaces the comment that names page-head.html with that file's content: the head elements that all pages share. */
export function withSharedHead(): Plugin {
  const file = "client/page-head.html"
  return {
    name: "cuecard:with-shared-head",
    transformIndexHtml: {
      order: "pre",
      handler: (html) => html.replace(`<!-- ${file} -->`, () => readFileSync(file, "utf8").trim()),
    },
  }
}

/** Writes the path of the code that draws messages into the page's HTML, for public/start-requests.js. */
export function withTranscriptName(): Plugin {
  return {
    name: "cuecard:with-transcript-name",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle = {} }) {
        const file = Object.keys(bundle).find((name) => /\/transcript-[\w-]{8}\.js$/.test(name))
        const script = 'src="/start-requests.js"'
        return file === undefined ? html : html.replace(script, `${script} data-preload="/${file}"`)
      },
    },
  }
}

/** The scripts in the head of the chat page, which run before its modules. */
const HEAD_SCRIPTS = ["theme", "start-requests"]

/**
 * Adds a hash to the file names of the scripts in the head of the chat page. The page's other scripts already have one.
 * The hash keeps the page from loading another version's scripts, and lets browsers cache its own.
 */
export function withHashedScripts(): Plugin {
  const files = HEAD_SCRIPTS.map((name) => {
    const { code } = minifySync(`${name}.js`, readFileSync(`public/${name}.js`, "utf8"), { module: false })
    const hash = createHash("sha256").update(code).digest("base64url").slice(0, 8)
    return { path: `src="/${name}.js"`, code, fileName: `assets/${name}-${hash}.js` }
  })
  return {
    name: "cuecard:with-hashed-scripts",
    apply: "build",
    applyToEnvironment: ({ name }) => name === "client",
    generateBundle() {
      for (const { fileName, code } of files) this.emitFile({ type: "asset", fileName, source: code })
    },
    transformIndexHtml: {
      order: "post",
      handler: (html) =>
        files.reduce((text, { path, fileName }) => text.replace(path, () => `src="/${fileName}"`), html),
    },
  }
}
