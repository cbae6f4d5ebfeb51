/** CSV as text: its records with the values as they are written, and a file with other columns. */

export interface CsvRecord {
  /** The line that it begins on, from 1. */
  line: number;
  /** Each value as it is written, with its quotes: an empty one is null, and `""` is an empty text. */
  values: string[];
}

/** A file that cannot be read, and why. */
export class Unreadable extends Error {}

/** Yields the records, the header first. Only a value that begins with a quote can span several lines. */
export function* csvRecords(text: string): Generator<CsvRecord> {
  let at = 0;
  let line = 1;
  while (at < text.length) {
    const first = line;
    const values: string[] = [];
    let isOver = false;
    while (!isOver) {
      const end = endOfValue(text, at, first);
      const value = text.slice(at, end);
      line += value.startsWith('"') ? value.split("\n").length - 1 : 0;
      isOver = end >= text.length || text[end] === "\n";
      // The last value has the rest of a line end of two characters.
      values.push(isOver && value.endsWith("\r") ? value.slice(0, -1) : value);
      at = end + 1;
    }
    line += 1;
    yield { line: first, values };
  }
}

function endOfValue(text: string, from: number, line: number): number {
  let at = from;
  if (text[at] === '"') {
    do {
      at = text.indexOf('"', at + 1);
      if (at < 0) {
        throw new Unreadable(`A quote opens in the record that begins on line ${line}, and is never closed.`);
      }
      at += 1;
    } while (text[at] === '"');
  }
  while (at < text.length && text[at] !== "," && text[at] !== "\n") {
    at += 1;
  }
  return at;
}

/** Returns what a value says, without its quotes; null if it is empty. */
export function unquotedValue(value: string): string | null {
  if (value.startsWith('"') && value.endsWith('"') && value.length > 1) {
    return value.slice(1, -1).replaceAll('""', '"');
  }
  return value === "" ? null : value;
}

function quotedName(name: string): string {
  return /[",\r\n]|^$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

/** Returns the file with the chosen columns alone, under their new names. Each value stays as it was written. */
export function csvWith(text: string, columns: readonly { at: number; name: string }[]): string {
  const lines: string[] = [];
  let width: number | null = null;
  for (const { line, values } of csvRecords(text)) {
    if (width === null) {
      width = values.length;
      lines.push(columns.map(({ name }) => quotedName(name)).join(","));
      continue;
    }
    // With fewer columns, a record that does not fit could seem to.
    if (values.length !== width) {
      throw new Unreadable(`The record on line ${line} has ${values.length} values, and the first line names ${width} columns.`);
    }
    lines.push(columns.map(({ at }) => values[at] ?? "").join(","));
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
