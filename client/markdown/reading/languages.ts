/** languages.ts: the highlighted languages, by the names that people write after a fence. Pure. SPEC MD11, MD17. */

import type { Language } from "./code-tokenizer.ts"
import * as script from "./script-grammars.ts"
import * as system from "./system-grammars.ts"
import * as text from "./text-grammars.ts"

const LANGUAGES: Readonly<Record<string, Language>> = { ...script, ...system, ...text }

/** Other names of a language: `alias:name`. */
const ALIASES =
  "js:javascript mjs:javascript cjs:javascript node:javascript ts:typescript mts:typescript cts:typescript jsonc:json " +
  "json5:json jsonl:json geojson:json htm:html xhtml:html rss:xml plist:xml sass:scss h:c cc:cpp cxx:cpp hpp:cpp c++:cpp " +
  "objectivec:c cs:csharp c#:csharp kt:kotlin kts:kotlin sbt:scala golang:go rs:rust proto:protobuf sol:solidity " +
  "py:python python3:python pyi:python rb:ruby ex:elixir exs:elixir pl:perl jl:julia hs:haskell clojure:lisp clj:lisp " +
  "scheme:lisp elisp:lisp sh:bash shell:bash zsh:bash console:bash shellsession:bash terminal:bash fish:bash ps1:powershell " +
  "pwsh:powershell ps:powershell postgres:sql postgresql:sql mysql:sql sqlite:sql plsql:sql gql:graphql yml:yaml " +
  "properties:ini env:ini dotenv:ini conf:ini editorconfig:ini docker:dockerfile make:makefile mk:makefile terraform:hcl " +
  "tf:hcl tex:latex patch:diff md:markdown mdx:markdown"

const namesByAlias = new Map(ALIASES.split(" ").map((pair) => pair.split(":") as [string, string]))

/** Returns the language of a fence, or null. Case doesn't matter. */
export function findLanguage(fenceName: string): Language | null {
  const key = fenceName.toLowerCase()
  const name = namesByAlias.get(key) ?? key
  return Object.hasOwn(LANGUAGES, name) ? (LANGUAGES[name] ?? null) : null
}

/** The names of the languages themselves, without their aliases. */
export const LANGUAGE_NAMES: readonly string[] = Object.keys(LANGUAGES)
