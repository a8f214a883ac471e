/** system-grammars.ts: languages with braces and comments like C's. Pure. */

import type { Rule } from "./code-tokenizer.ts"
import {
  ANNOTATION,
  BLOCK_COMMENT,
  CHARACTER,
  defineLanguage,
  DOUBLE_QUOTED,
  HASH_COMMENT,
  longText,
  SINGLE_QUOTED,
  SLASH_COMMENT,
} from "./grammar-parts.ts"

const PREPROCESSOR: Rule = ["#\\s*[a-z]+", "meta"]
const INCLUDED_FILE: Rule = ["<[\\w.\\/+-]+\\.h(?:pp)?>", "string"]
const TEXT_BLOCK = longText("text", '"""', '(?:[^"\\\\]|\\\\.?|"(?!""))+', '"""', "string")
const RAW_STRING = longText("raw", "`", "[^`]+", "`", "string")

const C_KEYWORDS =
  "break case const continue default do else enum extern for goto if inline register restrict return sizeof static " +
  "struct switch typedef union volatile while"
const C_TYPES =
  "bool char double float int long short signed unsigned void size_t ssize_t int8_t int16_t int32_t int64_t uint8_t " +
  "uint16_t uint32_t uint64_t FILE"

export const c = defineLanguage({
  name: "C",
  extension: "c",
  keywords: C_KEYWORDS,
  types: C_TYPES,
  constants: "true false NULL",
  rules: [SLASH_COMMENT, PREPROCESSOR, INCLUDED_FILE, DOUBLE_QUOTED, CHARACTER],
  longTexts: [BLOCK_COMMENT],
})

export const cpp = defineLanguage({
  name: "C++",
  extension: "cpp",
  keywords:
    `${C_KEYWORDS} alignas alignof and catch class co_await co_return co_yield concept consteval constexpr constinit ` +
    "decltype delete explicit export final friend import module mutable namespace new noexcept not operator or override " +
    "private protected public requires static_assert template this throw try typeid typename using virtual",
  types: `${C_TYPES} auto wchar_t string string_view vector map set`,
  constants: "true false nullptr NULL",
  rules: [SLASH_COMMENT, PREPROCESSOR, ["<[\\w.\\/+-]+>(?=\\s*$)", "string"], DOUBLE_QUOTED, CHARACTER],
  longTexts: [BLOCK_COMMENT],
})

export const csharp = defineLanguage({
  name: "C#",
  extension: "cs",
  keywords:
    "abstract add as async await base break case catch checked class const continue default delegate do else enum event " +
    "explicit extern finally fixed for foreach from get global goto if implicit in init interface internal is join let " +
    "lock namespace new operator orderby out override params partial private protected public readonly record ref remove " +
    "required return sealed select set sizeof stackalloc static struct switch this throw try typeof unchecked unsafe " +
    "using virtual volatile when where while with yield",
  types: "bool byte char decimal double dynamic float int long object sbyte short string uint ulong ushort var void",
  rules: [SLASH_COMMENT, PREPROCESSOR, ['[$@]{1,2}"(?:[^"\\\\]|\\\\.)*"?', "string"], DOUBLE_QUOTED, CHARACTER],
  longTexts: [BLOCK_COMMENT, TEXT_BLOCK],
})

export const java = defineLanguage({
  name: "Java",
  extension: "java",
  keywords:
    "abstract assert break case catch class const continue default do else enum exports extends final finally for goto if " +
    "implements import instanceof interface module native new non-sealed package permits private protected public record " +
    "requires return sealed static strictfp super switch synchronized this throw throws transient try var volatile when " +
    "while yield",
  types: "boolean byte char double float int long short void",
  rules: [SLASH_COMMENT, ANNOTATION, DOUBLE_QUOTED, CHARACTER],
  longTexts: [BLOCK_COMMENT, TEXT_BLOCK],
})

export const kotlin = defineLanguage({
  name: "Kotlin",
  extension: "kt",
  keywords:
    "abstract actual as break by catch class companion const constructor continue crossinline data do else enum expect " +
    "external final finally for fun get if import in infix init inline inner interface internal is lateinit noinline " +
    "object open operator out override package private protected public reified return sealed set super suspend tailrec " +
    "this throw try typealias val value var vararg when where while",
  rules: [SLASH_COMMENT, ANNOTATION, DOUBLE_QUOTED, CHARACTER],
  longTexts: [BLOCK_COMMENT, TEXT_BLOCK],
})

export const scala = defineLanguage({
  name: "Scala",
  extension: "scala",
  keywords:
    "abstract case catch class def derives do else end enum export extends extension final finally for given if implicit " +
    "import inline lazy match new object opaque open override package private protected return sealed super then this " +
    "throw trait transparent try type using val var while with yield",
  rules: [SLASH_COMMENT, ANNOTATION, DOUBLE_QUOTED, CHARACTER],
  longTexts: [BLOCK_COMMENT, TEXT_BLOCK],
})

export const swift = defineLanguage({
  name: "Swift",
  extension: "swift",
  keywords:
    "actor any as associatedtype async await break case catch class continue convenience default defer deinit do dynamic " +
    "else enum extension fallthrough fileprivate final for func get guard if import in indirect init inout internal is " +
    "lazy let mutating nonisolated open operator optional override private protocol public repeat required rethrows " +
    "return self set some static struct subscript super switch throw throws try typealias unowned var weak where while",
  constants: "true false nil",
  rules: [SLASH_COMMENT, ["[@#][a-zA-Z]+", "meta"], DOUBLE_QUOTED],
  longTexts: [BLOCK_COMMENT, TEXT_BLOCK],
})

export const go = defineLanguage({
  name: "Go",
  extension: "go",
  keywords:
    "break case chan const continue default defer else fallthrough for func go goto if import interface map package range " +
    "return select struct switch type var",
  types:
    "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 " +
    "uint16 uint32 uint64 uintptr",
  constants: "true false nil iota",
  rules: [SLASH_COMMENT, DOUBLE_QUOTED, CHARACTER],
  longTexts: [BLOCK_COMMENT, RAW_STRING],
})

export const rust = defineLanguage({
  name: "Rust",
  extension: "rs",
  keywords:
    "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref " +
    "return self static struct super trait type union unsafe use where while",
  types: "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Self",
  constants: "true false",
  rules: [
    SLASH_COMMENT,
    ["#!?\\[[^\\]]*\\]?", "meta"],
    ["[a-z_]+!(?=[\\s(\\[{])", "function"],
    ['[br]{0,2}#{0,3}"(?:[^"\\\\]|\\\\.)*"?#{0,3}', "string"],
    CHARACTER,
    ["'[a-z_]+", "name"],
  ],
  longTexts: [BLOCK_COMMENT],
})

export const zig = defineLanguage({
  name: "Zig",
  extension: "zig",
  keywords:
    "align allowzero and anytype asm async await break catch comptime const continue defer else enum errdefer error export " +
    "extern fn for if inline noalias nosuspend opaque or orelse packed pub resume return struct suspend switch test " +
    "threadlocal try union unreachable usingnamespace var volatile while",
  types: "bool f32 f64 i8 i16 i32 i64 isize type u8 u16 u32 u64 usize void anyerror noreturn",
  constants: "true false null undefined",
  rules: [SLASH_COMMENT, ["@[a-zA-Z]+", "function"], DOUBLE_QUOTED, CHARACTER],
})

export const dart = defineLanguage({
  name: "Dart",
  extension: "dart",
  keywords:
    "abstract as assert async await base break case catch class const continue covariant default deferred do else enum " +
    "export extends extension external factory final finally for get hide if implements import in interface is late " +
    "library mixin new on operator part required rethrow return sealed set show static super switch sync this throw try " +
    "typedef var when while with yield",
  types: "bool double dynamic int num void",
  rules: [SLASH_COMMENT, ANNOTATION, DOUBLE_QUOTED, SINGLE_QUOTED],
  longTexts: [BLOCK_COMMENT],
})

export const php = defineLanguage({
  name: "PHP",
  extension: "php",
  keywords:
    "abstract and as break callable case catch class clone const continue declare default do echo else elseif enum extends " +
    "final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface " +
    "isset match namespace new or print private protected public readonly require require_once return static switch throw " +
    "trait try unset use var while yield",
  types: "array bool float int iterable mixed never object self string void",
  constants: "true false null TRUE FALSE NULL",
  rules: [
    SLASH_COMMENT,
    ["<\\?(?:php|=)?|\\?>", "meta"],
    ["#\\[[^\\]]*\\]?", "meta"],
    HASH_COMMENT,
    ["\\$[\\p{L}_][\\p{L}\\p{N}_]*", "name"],
    DOUBLE_QUOTED,
    SINGLE_QUOTED,
  ],
  longTexts: [BLOCK_COMMENT],
})

export const protobuf = defineLanguage({
  name: "Protocol Buffers",
  extension: "proto",
  keywords:
    "enum extend extensions import message oneof option optional package repeated reserved returns rpc service syntax",
  types: "bool bytes double fixed32 fixed64 float int32 int64 map sint32 sint64 string uint32 uint64",
  rules: [SLASH_COMMENT, DOUBLE_QUOTED, SINGLE_QUOTED],
  longTexts: [BLOCK_COMMENT],
})

export const solidity = defineLanguage({
  name: "Solidity",
  extension: "sol",
  keywords:
    "abstract assembly break calldata case constant constructor continue contract do else emit enum error event external " +
    "fallback final for function if immutable import indexed interface internal is let library mapping memory modifier new " +
    "override payable pragma private public pure receive return returns revert require storage struct switch this try type " +
    "unchecked using view virtual while",
  types: "address bool bytes bytes32 int int256 string uint uint8 uint256",
  rules: [SLASH_COMMENT, DOUBLE_QUOTED, SINGLE_QUOTED],
  longTexts: [BLOCK_COMMENT],
})
