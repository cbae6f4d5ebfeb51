/** Reads and writes JSON without a loss: whole numbers of more digits than a number holds are of type bigint. */

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
// Chunks of large results have megabytes, and most have no such number.
const MAY_BE_LONG = /\d{16}/;
const WHOLE = /^-?\d{16,}$/;
// A character that nobody has a use for.
const MARK = "\uE0F1";
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, "g");
const IS_MARKED = new RegExp(`^${MARK}-?\\d+$`);

export function exactJson(text: string): unknown {
  if (!MAY_BE_LONG.test(text)) {
    return JSON.parse(text);
  }
  const marked = text.replace(TOKEN, (token) => (isLong(token) ? `"${MARK}${token}"` : token));
  return marked.length === text.length ? JSON.parse(text) : JSON.parse(marked, unmarked);
}

export function exactText(value: unknown): string {
  const marked = JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${MARK}${part}` : part));
  return marked.replace(MARKED, "$1");
}

function isLong(token: string): boolean {
  return WHOLE.test(token) && !Number.isSafeInteger(Number(token));
}

function unmarked(_: string, part: unknown): unknown {
  return typeof part === "string" && IS_MARKED.test(part) ? BigInt(part.slice(MARK.length)) : part;
}
