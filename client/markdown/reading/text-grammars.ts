/** text-grammars.ts: dynamic languages, shells, query languages, and text and configuration formats. Pure. */

import type { Language, Rule } from "./code-tokenizer.ts"
import {
  ANNOTATION,
  BLOCK_COMMENT,
  DASH_COMMENT,
  defineLanguage,
  DOUBLE_QUOTED,
  HASH_COMMENT,
  longText,
  SINGLE_QUOTED,
} from "./grammar-parts.ts"

/** A `#` within a word doesn't begin a comment. */
const SPACED_HASH_COMMENT: Rule = ["(?<=^|\\s)#.*", "comment"]
const SYMBOL: Rule = [":[\\p{L}_][\\p{L}\\p{N}_?!]*", "number"]
const SHELL_VARIABLE: Rule = ["\\$(?:\\{[^}]*\\}?|[\\w@#?*!-]+)", "name"]

const TRIPLE_DOUBLE = longText("triple-double", '[rRbBfFuU]{0,2}"""', '(?:[^"\\\\]|\\\\.?|"(?!""))+', '"""', "string")
const TRIPLE_SINGLE = longText("triple-single", "[rRbBfFuU]{0,2}'''", "(?:[^'\\\\]|\\\\.?|'(?!''))+", "'''", "string")

export const python = defineLanguage({
  name: "Python",
  extension: "py",
  keywords:
    "and as assert async await break case class continue def del elif else except finally for from global if import in is " +
    "lambda match nonlocal not or pass raise return try type while with yield",
  constants: "True False None self cls",
  types: "bool bytes dict float frozenset int list object set str tuple",
  rules: [
    HASH_COMMENT,
    ANNOTATION,
    ['[rRbBfFuU]{0,2}"(?:[^"\\\\]|\\\\.)*"?', "string"],
    ["[rRbBfFuU]{0,2}'(?:[^'\\\\]|\\\\.)*'?", "string"],
  ],
  longTexts: [TRIPLE_DOUBLE, TRIPLE_SINGLE],
})

export const ruby = defineLanguage({
  name: "Ruby",
  extension: "rb",
  keywords:
    "alias and begin break case class def defined? do else elsif end ensure extend for if in include module next not or " +
    "private protected public raise redo require require_relative rescue retry return self super then undef unless until " +
    "when while yield attr_accessor attr_reader attr_writer",
  constants: "true false nil",
  rules: [
    HASH_COMMENT,
    ["::", null],
    SYMBOL,
    ["[a-z_]\\w{0,60}:(?!:)", "number"],
    ["@{1,2}\\w+|\\$\\w+", "name"],
    DOUBLE_QUOTED,
    SINGLE_QUOTED,
    ["(?<=(?:^|[=(,~])\\s*)\\/(?:[^\\\\\\/]|\\\\.)+\\/\\w*", "string"],
  ],
})

export const elixir = defineLanguage({
  name: "Elixir",
  extension: "ex",
  keywords:
    "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import " +
    "in not or quote raise receive require rescue try unless unquote use when with",
  constants: "true false nil",
  rules: [
    HASH_COMMENT,
    ["::", null],
    SYMBOL,
    ["[a-z_]\\w{0,60}:(?!:)", "number"],
    ["@\\w+", "name"],
    DOUBLE_QUOTED,
    SINGLE_QUOTED,
  ],
  longTexts: [TRIPLE_DOUBLE],
})

export const lua = defineLanguage({
  name: "Lua",
  extension: "lua",
  keywords: "and break do else elseif end for function goto if in local not or repeat return then until while",
  constants: "true false nil self",
  rules: [DASH_COMMENT, DOUBLE_QUOTED, SINGLE_QUOTED],
  longTexts: [
    longText("remark", "--\\[\\[", "(?:[^\\]]|\\](?!\\]))+", "\\]\\]", "comment"),
    longText("raw", "\\[\\[", "(?:[^\\]]|\\](?!\\]))+", "\\]\\]", "string"),
  ],
})

export const perl = defineLanguage({
  name: "Perl",
  extension: "pl",
  keywords:
    "and die each else elsif eq exists for foreach ge gt if keys last le local lt my ne next no not or our package print " +
    "push return say shift sub unless until use while",
  constants: "undef",
  rules: [SPACED_HASH_COMMENT, ["[$@%&][\\w:]+", "name"], DOUBLE_QUOTED, SINGLE_QUOTED],
})

export const r = defineLanguage({
  name: "R",
  extension: "r",
  keywords: "break else for function if in library next repeat require return while",
  constants: "TRUE FALSE NULL NA NaN Inf",
  word: ["[\\p{L}.][\\p{L}\\p{N}_.]*", "word"],
  rules: [HASH_COMMENT, ["<-|->|%\\w*%|\\|>", "keyword"], DOUBLE_QUOTED, SINGLE_QUOTED],
})

export const julia = defineLanguage({
  name: "Julia",
  extension: "jl",
  keywords:
    "abstract baremodule begin break catch const continue do else elseif end export finally for function global if import " +
    "in isa let local macro module mutable primitive quote return struct try type using where while",
  constants: "true false nothing missing NaN Inf",
  rules: [HASH_COMMENT, ["@\\w+", "meta"], SYMBOL, DOUBLE_QUOTED],
  longTexts: [longText("remark", "#=", "(?:[^=]|=(?!#))+", "=#", "comment"), TRIPLE_DOUBLE],
})

export const haskell = defineLanguage({
  name: "Haskell",
  extension: "hs",
  keywords:
    "case class data default deriving do else family forall foreign hiding if import in infix infixl infixr instance let " +
    "module newtype of qualified then type where",
  constants: "True False",
  word: ["[\\p{L}_][\\p{L}\\p{N}_']*", "word"],
  rules: [DASH_COMMENT, DOUBLE_QUOTED, ["'(?:[^'\\\\]|\\\\.)'", "string"], ["(?:->|<-|=>|::)", "keyword"]],
  longTexts: [longText("remark", "\\{-", "(?:[^-]|-(?!\\}))+", "-\\}", "comment")],
})

export const lisp = defineLanguage({
  name: "Lisp",
  extension: "lisp",
  keywords: "",
  constants: "true false nil t",
  word: ["(?<=\\()[^\\s()\\[\\]{}\"';]+", "call"],
  rules: [[";.*", "comment"], DOUBLE_QUOTED, [":[\\w-]+", "number"]],
})

export const bash = defineLanguage({
  name: "Shell",
  extension: "sh",
  keywords:
    "alias break case continue do done elif else esac eval exec exit export fi for function if in local readonly return " +
    "select set shift source then trap unset until while",
  constants: "true false",
  word: ["[\\p{L}_][\\p{L}\\p{N}_-]*", "word"],
  rules: [
    SPACED_HASH_COMMENT,
    ["^(?:\\$|>|❯) ", "meta"],
    ["(?<=\\s)--?[A-Za-z][\\w-]*", "name"],
    ["[A-Za-z_]\\w{0,90}(?==)", "name"],
    ["(?<=(?:^|[|&;(]|\\$ )\\s{0,9})[\\w.\\/-]{1,90}(?![\\w=.\\/-])", "call"],
    ["'[^']*'?", "string"],
    SHELL_VARIABLE,
  ],
  longTexts: [
    {
      opener: ['"', "string", ">quoted"],
      states: {
        quoted: [['"', "string", "<"], SHELL_VARIABLE, ['(?:[^"\\\\$]|\\\\.?|\\$(?![\\w{@#?*!-]))+', "string"]],
      },
    },
  ],
})

export const powershell = defineLanguage({
  name: "PowerShell",
  extension: "ps1",
  keywords:
    "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach from " +
    "function if in param process return switch throw trap try until using var while",
  constants: "",
  isCaseInsensitive: true,
  word: ["[a-z]{1,60}-[a-z]+|[\\p{L}_][\\p{L}\\p{N}_]*", "word"],
  rules: [
    HASH_COMMENT,
    ["\\$[\\w:]+", "name"],
    ["(?<=\\s)-[a-z]+", "keyword"],
    ['"(?:[^"`]|`.)*"?', "string"],
    ["'[^']*'?", "string"],
  ],
  longTexts: [longText("remark", "<#", "(?:[^#]|#(?!>))+", "#>", "comment")],
})

export const sql = defineLanguage({
  name: "SQL",
  extension: "sql",
  isCaseInsensitive: true,
  keywords:
    "add all alter and as asc begin between by cascade case check column commit conflict constraint create cross database " +
    "default delete desc distinct do drop else end except exists explain foreign from full function grant group having if " +
    "in index inner insert intersect into is join key lateral left like ilike limit natural not nothing of offset on or " +
    "order outer over partition primary procedure recursive references replace returning returns revoke right rollback " +
    "row rows schema select set table temp then to transaction trigger truncate union unique update using values view " +
    "when where window with",
  constants: "true false null",
  types:
    "bigint blob boolean bytea char date decimal double float int integer interval json jsonb numeric real serial smallint " +
    "text time timestamp timestamptz uuid varchar",
  rules: [
    DASH_COMMENT,
    ["'(?:[^']|'')*'?", "string"],
    ['"[^"]*"?', "name"],
    ["`[^`]*`?", "name"],
    ["[:$@]\\w+", "name"],
  ],
  longTexts: [BLOCK_COMMENT],
})

export const graphql = defineLanguage({
  name: "GraphQL",
  extension: "graphql",
  keywords:
    "directive enum extend fragment implements input interface mutation on query scalar schema subscription type union",
  types: "Boolean Float ID Int String",
  rules: [HASH_COMMENT, ["[@$]\\w+", "meta"], ["\\w{1,90}(?=\\s{0,9}:)", "name"], DOUBLE_QUOTED],
  longTexts: [TRIPLE_DOUBLE],
})

const YAML_KEY: Rule = ['[\\w.\\/$@*-]+(?=:(?:\\s|$))|"[^"]*"(?=:(?:\\s|$))', "name"]

export const yaml = defineLanguage({
  name: "YAML",
  extension: "yaml",
  keywords: "",
  constants: "true false null yes no on off",
  rules: [
    SPACED_HASH_COMMENT,
    ["^(?:---|\\.\\.\\.)\\s*$", "meta"],
    YAML_KEY,
    ["[&*!][\\w.!-]+", "meta"],
    DOUBLE_QUOTED,
    SINGLE_QUOTED,
  ],
})

export const toml = defineLanguage({
  name: "TOML",
  extension: "toml",
  keywords: "",
  constants: "true false",
  rules: [
    HASH_COMMENT,
    ["^\\s*\\[{1,2}[^\\]]*\\]{0,2}", "type"],
    ["[\\w.-]{1,90}(?=\\s{0,9}=)", "name"],
    DOUBLE_QUOTED,
    SINGLE_QUOTED,
  ],
  longTexts: [TRIPLE_DOUBLE],
})

export const ini = defineLanguage({
  name: "INI",
  extension: "ini",
  keywords: "",
  rules: [
    ["(?<=^\\s*)[;#].*", "comment"],
    ["^\\s*\\[[^\\]]*\\]?", "type"],
    ["^[^=\\s]+(?=\\s*=)", "name"],
    DOUBLE_QUOTED,
  ],
})

export const dockerfile = defineLanguage({
  name: "Dockerfile",
  extension: "dockerfile",
  keywords:
    "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME " +
    "WORKDIR AS",
  rules: [SPACED_HASH_COMMENT, SHELL_VARIABLE, ["(?<=\\s)--[a-z][\\w-]*", "name"], DOUBLE_QUOTED, SINGLE_QUOTED],
})

export const makefile = defineLanguage({
  name: "Makefile",
  extension: "mk",
  keywords: "define else endef endif ifdef ifeq ifndef ifneq include override export",
  rules: [
    SPACED_HASH_COMMENT,
    ["\\$[({][^)}]*[)}]?|\\$[@<^*?%$]", "name"],
    ["^[\\w.%\\/ -]+(?=:)", "function"],
    DOUBLE_QUOTED,
  ],
})

export const nginx = defineLanguage({
  name: "nginx",
  extension: "conf",
  keywords: "",
  constants: "on off",
  rules: [SPACED_HASH_COMMENT, ["(?<=(?:^|[{;])\\s*)[a-z_]+", "keyword"], SHELL_VARIABLE, DOUBLE_QUOTED, SINGLE_QUOTED],
})

export const hcl = defineLanguage({
  name: "HCL",
  extension: "tf",
  keywords: "data for if in locals module output provider resource terraform variable",
  rules: [HASH_COMMENT, ["\\/\\/.*", "comment"], ["[\\w-]{1,90}(?=\\s{0,9}=)", "name"], DOUBLE_QUOTED],
  longTexts: [BLOCK_COMMENT],
})

export const latex = defineLanguage({
  name: "LaTeX",
  extension: "tex",
  keywords: "",
  rules: [
    ["%.*", "comment"],
    ["\\\\(?:[a-zA-Z@]+\\*?|.)", "keyword"],
    ["\\$\\$?", "meta"],
    ["[{}\\[\\]&]", "name"],
  ],
})

/** Languages in which a whole line has one meaning. */
function defineLines(name: string, extension: string, rules: readonly Rule[]): Language {
  return { name, extension, words: new Map(), states: { root: rules } }
}

export const diff = defineLines("Diff", "diff", [
  ["^(?:\\+\\+\\+|---|diff|index|@@).*", "meta"],
  ["^[+>].*", "added"],
  ["^[-<].*", "removed"],
])

export const markdown = defineLines("Markdown", "md", [
  ["^#{1,6}\\s.*", "keyword"],
  ["^\\s*>.*", "comment"],
  ["^\\s*(?:[*+-]|\\d+[.)])(?=\\s)", "meta"],
  ["^\\s*(?:```|~~~).*", "meta"],
  ["`[^`]*`?", "string"],
  ["\\*\\*[^*]*\\*\\*|__[^_]*__", "type"],
  ["!?\\[[^\\]]*\\](?:\\([^)]*\\))?", "function"],
  ["<!--.*?-->", "comment"],
])

export const http = defineLines("HTTP", "http", [
  ["^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\\b", "keyword"],
  ["^HTTP\\/[\\d.]+ \\d+.*", "keyword"],
  ["^[\\w-]+(?=:)", "name"],
  ['"(?:[^"\\\\]|\\\\.)*"?', "string"],
])
