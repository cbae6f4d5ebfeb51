/** Splits Spark's SQL into tokens. Each keeps its text, so that they can be joined again without a change. */

export type TokenKind = "word" | "text" | "comment" | "line comment" | "open" | "close" | "comma" | "other";

export interface Token {
  kind: TokenKind;
  text: string;
  /** Whether white space, and whether a line end, stands before it. */
  hasSpace: boolean;
  hasLineEnd: boolean;
}

const SPACE = /\s+/y;
// A backslash at the end of its line lets a comment go on. Raw texts have no escapes.
const PATTERNS: readonly [TokenKind, RegExp][] = [
  ["line comment", /--(?:\\\n|[^\r\n])*/y],
  ["text", /[rR](?:'[^']*'|"[^"]*")/y],
  ["text", /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`]|``)*`/y],
  ["word", /[\p{L}_][\p{L}\p{N}_]*/uy],
  ["other", /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[\p{L}\p{N}_]*/uy],
  ["open", /\(/y],
  ["close", /\)/y],
  ["comma", /,/y],
  ["other", /[^\s\p{L}\p{N}_'"`(),]/uy],
];

// What is between two of these is one text, with its white space.
const DOLLARS = /\$[A-Za-z]*\$/y;

/** Returns the tokens; null if a text, a name or a comment does not end, or if a text is between dollars. */
export function tokensIn(sql: string): Token[] | null {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    const space = matchAt(SPACE, sql, at) ?? "";
    at += space.length;
    if (at >= sql.length) {
      return tokens;
    }
    const found = sql.startsWith("/*", at) ? commentAt(sql, at) : tokenAt(sql, at);
    if (found === null) {
      return null;
    }
    tokens.push({ ...found, hasSpace: space !== "", hasLineEnd: space.includes("\n") });
    at += found.text.length;
  }
}

function tokenAt(sql: string, at: number): Pick<Token, "kind" | "text"> | null {
  if (matchAt(DOLLARS, sql, at) !== null) {
    return null;
  }
  for (const [kind, pattern] of PATTERNS) {
    const text = matchAt(pattern, sql, at);
    if (text !== null) {
      return { kind, text };
    }
  }
  return null;
}

// Comments may be inside of each other.
function commentAt(sql: string, from: number): Pick<Token, "kind" | "text"> | null {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = from;
  let depth = 0;
  for (let found = edge.exec(sql); found !== null; found = edge.exec(sql)) {
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) {
      return { kind: "comment", text: sql.slice(from, edge.lastIndex) };
    }
  }
  return null;
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}
