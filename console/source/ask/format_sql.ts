/** Lays out SQL: a line for each clause, and for each item of a long list. Only white space changes. */

import { type Token, tokensIn } from "./sql_tokens";

const WIDE = 80;
const STEP = 2;
const MOST_CHARACTERS = 200_000;
const CLAUSES = new Set(["select", "from", "where", "having", "qualify", "limit", "offset", "union", "intersect", "except", "minus", "window"]);
// These begin a clause only before BY.
const BEFORE_BY = new Set(["group", "order", "cluster", "distribute", "sort"]);
const JOIN_WORDS = new Set(["natural", "left", "right", "full", "inner", "cross", "outer", "semi", "anti", "join"]);
// NATURAL LEFT OUTER JOIN has four words.
const MOST_JOIN_WORDS = 4;
// Their values are read with their white space.
const SETTINGS = new Set(["set", "reset"]);
const QUERIES = new Set(["select", "with", "values", "from"]);
const WITH_ITEMS = new Set(["select", "group", "order"]);
const WITH_CONDITIONS = new Set(["where", "having", "qualify", "join"]);

interface Level {
  /** Whether a query is in these parentheses, and not the arguments of a function. */
  isQuery: boolean;
  indent: number;
  clause: string;
  /** How many BETWEENs wait for their AND. */
  betweens: number;
}

/** Returns the text in lines; as it is if it cannot be read, sets a value, or is very long. */
export function formatted(sql: string): string {
  const tokens = sql.length > MOST_CHARACTERS ? null : tokensIn(sql);
  if (tokens === null || tokens.length === 0 || isSetting(tokens)) {
    return sql;
  }
  const text = laidOut(tokens);
  return isSame(tokens, tokensIn(text)) ? text : sql;
}

function isSetting(tokens: readonly Token[]): boolean {
  const first = tokens.findIndex(({ kind }) => kind !== "comment" && kind !== "line comment");
  return SETTINGS.has(wordAt(tokens, first));
}

function isSame(tokens: readonly Token[], others: readonly Token[] | null): boolean {
  return others !== null && tokens.length === others.length && tokens.every(({ kind, text }, at) => kind === others[at]?.kind && text === others[at].text);
}

function laidOut(tokens: readonly Token[]): string {
  const levels: Level[] = [{ isQuery: true, indent: 0, clause: "", betweens: 0 }];
  let text = "";
  tokens.forEach((token, at) => {
    const level = levels[levels.length - 1] ?? { isQuery: true, indent: 0, clause: "", betweens: 0 };
    const closes = token.kind === "close" && levels.length > 1;
    const indent = closes ? breakAtClose(levels) : breakBefore(tokens, at, level);
    text += at === 0 ? "" : gapBefore(tokens, at, indent);
    text += token.text;
    if (closes) {
      levels.pop();
    } else if (token.kind === "open") {
      levels.push(opened(tokens, at, level));
    }
  });
  return text;
}

function opened(tokens: readonly Token[], at: number, outer: Level): Level {
  const isQuery = QUERIES.has(wordAt(tokens, at + 1));
  return { isQuery, indent: outer.indent + (isQuery ? STEP : 0), clause: "", betweens: 0 };
}

function breakAtClose(levels: readonly Level[]): number | null {
  const level = levels[levels.length - 1];
  return level?.isQuery === true ? level.indent - STEP : null;
}

/** Returns the indentation of the line that begins with this token; null: it begins none. */
function breakBefore(tokens: readonly Token[], at: number, level: Level): number | null {
  const before = tokens[at - 1];
  // Behind an operator without white space, a word is part of a name: `:limit`, `a::from`, `s3://from`.
  const isGlued = before?.kind === "other" && tokens[at]?.hasSpace === false;
  if (!level.isQuery || isGlued) {
    return null;
  }
  if (before?.kind === "open") {
    begun(tokens, at, level);
    return level.indent;
  }
  if (begun(tokens, at, level)) {
    return level.indent;
  }
  const word = wordAt(tokens, at);
  if (word === "between") {
    level.betweens += 1;
  } else if (word === "and" && level.betweens > 0) {
    level.betweens -= 1;
  } else if ((word === "and" || word === "or") && WITH_CONDITIONS.has(level.clause)) {
    return level.indent + STEP;
  }
  const isItem = before?.kind === "comma" && WITH_ITEMS.has(level.clause);
  return isItem && isLong(tokens, at) ? level.indent + STEP : null;
}

/** Whether a clause begins here. */
function begun(tokens: readonly Token[], at: number, level: Level): boolean {
  const word = wordAt(tokens, at);
  const before = wordAt(tokens, at - 1);
  const isDotted = tokens[at - 1]?.text === "." || tokens[at + 1]?.text === ".";
  if (word === "" || isDotted || (word === "from" && before === "distinct" && ["is", "not"].includes(wordAt(tokens, at - 2)))) {
    return false;
  }
  if (JOIN_WORDS.has(word)) {
    // The first of LEFT OUTER JOIN begins a line; LEFT(…) is a function.
    const isJoin = joinsAt(tokens, at);
    level.clause = isJoin ? "join" : level.clause;
    return isJoin && !(JOIN_WORDS.has(before) && joinsAt(tokens, at - 1));
  }
  if (CLAUSES.has(word) || (BEFORE_BY.has(word) && wordAt(tokens, at + 1) === "by")) {
    level.clause = word;
    level.betweens = 0;
    return true;
  }
  return false;
}

function joinsAt(tokens: readonly Token[], at: number): boolean {
  let next = at;
  while (next < at + MOST_JOIN_WORDS - 1 && JOIN_WORDS.has(wordAt(tokens, next)) && wordAt(tokens, next) !== "join") {
    next += 1;
  }
  return wordAt(tokens, next) === "join";
}

/** Whether the list that this item belongs to is longer than a line. */
function isLong(tokens: readonly Token[], at: number): boolean {
  return listWidth(tokens, at, -1) + listWidth(tokens, at, 1) > WIDE;
}

function listWidth(tokens: readonly Token[], from: number, step: 1 | -1): number {
  let width = 0;
  let depth = 0;
  for (let at = step > 0 ? from : from - 1; at >= 0 && at < tokens.length && width <= WIDE; at += step) {
    const token = tokens[at];
    if (token === undefined) {
      break;
    }
    depth += (token.kind === "open" ? 1 : token.kind === "close" ? -1 : 0) * step;
    const word = wordAt(tokens, at);
    if (depth < 0 || (depth === 0 && (CLAUSES.has(word) || BEFORE_BY.has(word)))) {
      break;
    }
    width += token.text.length + 1;
  }
  return width;
}

/** The white space before a token. Where there was none, none comes, except for new lines and behind commas. */
function gapBefore(tokens: readonly Token[], at: number, indent: number | null): string {
  const [before, token] = [tokens[at - 1], tokens[at]];
  if (before === undefined || token === undefined) {
    return "";
  }
  const line = `\n${" ".repeat(indent ?? STEP)}`;
  if (before.kind === "line comment") {
    return line;
  }
  const isComment = token.kind === "comment" || token.kind === "line comment";
  if (isComment) {
    return token.hasLineEnd ? line : token.hasSpace ? " " : "";
  }
  if (indent !== null) {
    return line;
  }
  return token.hasSpace || before.kind === "comma" ? " " : "";
}

function wordAt(tokens: readonly Token[], at: number): string {
  const token = tokens[at];
  return token?.kind === "word" ? token.text.toLowerCase() : "";
}
