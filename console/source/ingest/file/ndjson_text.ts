/** JSON lines as text: the fields of each record as they are written, and a file with other fields. */

export interface Member {
  name: string;
  /** The value as it is written, so that a number keeps its digits. */
  value: string;
}

const SPACE = /[ \t\r\n]*/y;
const PLAIN = /[^\s,{}[\]":]+/y;

/** Returns the fields of an object, the outermost ones alone; null if the text is not one object. */
export function membersIn(line: string): Member[] | null {
  let at = behind(SPACE, line, 0) ?? 0;
  const members: Member[] = [];
  if (line[at] !== "{") {
    return null;
  }
  at = behind(SPACE, line, at + 1) ?? at;
  if (line[at] === "}") {
    return isRest(line, at + 1) ? members : null;
  }
  for (;;) {
    const nameEnd = behindText(line, at);
    const colon = nameEnd === null ? null : behind(SPACE, line, nameEnd);
    if (nameEnd === null || colon === null || line[colon] !== ":") {
      return null;
    }
    const from = behind(SPACE, line, colon + 1) ?? colon;
    const end = endOfJson(line, from);
    const name = nameOf(line.slice(at, nameEnd));
    if (end === null || name === null) {
      return null;
    }
    members.push({ name, value: line.slice(from, end) });
    at = behind(SPACE, line, end) ?? end;
    if (line[at] === "}") {
      return isRest(line, at + 1) ? members : null;
    }
    if (line[at] !== ",") {
      return null;
    }
    at = behind(SPACE, line, at + 1) ?? at;
  }
}

/** Where the value that begins here ends; what is inside of it is not checked. */
function endOfJson(line: string, from: number): number | null {
  const first = line[from];
  if (first === '"') {
    return behindText(line, from);
  }
  if (first !== "{" && first !== "[") {
    return behind(PLAIN, line, from);
  }
  let depth = 0;
  let at = from;
  while (at < line.length) {
    const character = line[at];
    if (character === '"') {
      const end = behindText(line, at);
      if (end === null) {
        return null;
      }
      at = end;
      continue;
    }
    depth += character === "{" || character === "[" ? 1 : character === "}" || character === "]" ? -1 : 0;
    at += 1;
    if (depth === 0) {
      return at;
    }
  }
  return null;
}

function behind(pattern: RegExp, line: string, from: number): number | null {
  pattern.lastIndex = from;
  return pattern.test(line) ? pattern.lastIndex : null;
}

/** Where the text in quotes that begins here ends; null: none begins here, or it does not end. */
function behindText(line: string, from: number): number | null {
  if (line[from] !== '"') {
    return null;
  }
  for (let at = from + 1; at < line.length; at += 1) {
    if (line[at] === "\\") {
      at += 1;
    } else if (line[at] === '"') {
      return at + 1;
    }
  }
  return null;
}

function isRest(line: string, from: number): boolean {
  return behind(SPACE, line, from) === line.length;
}

function nameOf(text: string): string | null {
  try {
    return JSON.parse(text) as string;
  } catch {
    return null;
  }
}

/**
 * Returns the lines with the fields under their new names; those without one are left out. Fields that nobody chose
 * about stay, and so do lines that are no object: the gateway says what is wrong with them.
 */
export function ndjsonWith(text: string, names: ReadonlyMap<string, string | null>): string {
  return text
    .split("\n")
    .map((line) => {
      const members = membersIn(line);
      return members === null ? line : objectOf(members, names);
    })
    .join("\n");
}

function objectOf(members: readonly Member[], names: ReadonlyMap<string, string | null>): string {
  const kept = members.flatMap(({ name, value }) => {
    const to = names.has(name) ? names.get(name) : name;
    return to === null || to === undefined ? [] : [`${JSON.stringify(to)}:${value}`];
  });
  return `{${kept.join(",")}}`;
}
