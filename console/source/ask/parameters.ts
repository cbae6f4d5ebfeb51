/** The named parameters of a text, outside of its strings and comments, and their values as they are typed. */

const SKIPPED = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|::/g;
const PARAMETER = /(?<![\w:]):([A-Za-z_]\w*)/g;

export function parametersIn(sql: string): string[] {
  const names = [...sql.replace(SKIPPED, " ").matchAll(PARAMETER)].map((found) => found[1] ?? "");
  return [...new Set(names)];
}

/** Returns what was typed for a parameter, whatever its name is. */
export function typedFor(typed: Readonly<Record<string, string>>, name: string): string {
  return (Object.hasOwn(typed, name) ? typed[name] : undefined) ?? "";
}

/** Returns the value for the query: a number, true, false or null where the text is one; else the text. */
export function valueOf(typed: string): unknown {
  if (/^-?(?:0|[1-9]\d{0,14})$/.test(typed)) {
    return Number(typed);
  }
  if (/^-?\d+\.\d+$/.test(typed)) {
    return { value: typed, type: decimalFor(typed) };
  }
  const words: Record<string, unknown> = { true: true, false: false, null: null };
  return Object.hasOwn(words, typed.toLowerCase()) ? words[typed.toLowerCase()] : unquoted(typed);
}

function decimalFor(typed: string): string {
  const [whole = "", part = ""] = typed.replace("-", "").split(".");
  const digits = Math.min(38, whole.length + part.length);
  return `DECIMAL(${digits},${Math.min(part.length, digits)})`;
}

function unquoted(typed: string): string {
  return /^'.*'$/s.test(typed) ? typed.slice(1, -1).replaceAll("''", "'") : typed;
}
