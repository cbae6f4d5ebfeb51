/** Which column of a table each field of a file goes to, and the file that follows from it. */

import type { TableAnswer, TableColumn } from "../../gateway/table_answers";
import { Unreadable, csvWith } from "./csv_text";
import { ndjsonWith } from "./ndjson_text";
import type { FileField, FileFormat, Sniffed } from "./sniff";

/** The column of each field, by the field's name. null: it is left out. */
export type Mapping = ReadonlyMap<string, string | null>;

/** More is not rewritten in a browser. */
export const MOST_REWRITTEN_BYTES = 64 * 1024 * 1024;

/** Returns the first mapping: columns of the same name, or else of the same letters in another case. */
export function firstMapping(fields: readonly FileField[], columns: readonly Pick<TableColumn, "name">[]): Mapping {
  const taken = new Set<string>();
  const exact = new Map(fields.filter(({ name }) => columns.some((column) => column.name === name)).map(({ name }) => [name, name]));
  exact.forEach((column) => taken.add(column));
  return new Map(fields.map(({ name }) => {
    const alike = columns.find((column) => !taken.has(column.name) && column.name.toLowerCase() === name.toLowerCase());
    const column = exact.get(name) ?? alike?.name ?? null;
    if (column !== null) {
      taken.add(column);
    }
    return [name, column];
  }));
}

/** Whether fields of this format can get other names, or be left out: files of columns are sent as they are. */
export function isFree(format: FileFormat): boolean {
  return format === "CSV" || format === "NDJSON";
}

/** Returns the names for `writeSchema`, in the order of the file. */
export function writeSchemaOf(mapping: Mapping): string[] {
  return [...mapping.values()].filter((column) => column !== null);
}

/** Whether the file can be sent as it is. */
export function isIdentity(mapping: Mapping): boolean {
  return [...mapping].every(([name, column]) => name === column);
}

/** Returns what stands against sending the file so; each a sentence. */
export function faultsOf(mapping: Mapping, sniffed: Sniffed, table: Pick<TableAnswer, "columns" | "partitionSpec">, bytes: number): string[] {
  const chosen = writeSchemaOf(mapping);
  const twice = [...new Set(chosen.filter((column, at) => chosen.indexOf(column) !== at))];
  const partitioned = table.partitionSpec.filter(({ transform }) => transform !== "void").map(({ source }) => source);
  const needed = [...new Set([...table.columns.filter(({ required }) => required).map(({ name }) => name), ...partitioned])];
  const missing = needed.filter((name) => !chosen.includes(name.split(".")[0] ?? name));
  const strange = isFree(sniffed.format) ? [] : [...mapping].filter(([name, column]) => name !== column).map(([name]) => name);
  return [
    ...(chosen.length === 0 ? ["Choose a column for at least one field."] : []),
    ...twice.map((name) => `Two fields go to the column ${name}.`),
    ...missing.map((name) => `The table needs the column ${name}.`),
    ...strange.map((name) => `The table has no column ${name}. Files of this format are sent as they are: rename or leave out the column where the file is made.`),
    ...(!isIdentity(mapping) && bytes > MOST_REWRITTEN_BYTES ? [`The file is too large to be changed here. Up to ${MOST_REWRITTEN_BYTES / 1024 / 1024} MiB can be; any size can be sent with its names as they are.`] : []),
  ];
}

/** Returns the records as they are sent: the file itself, unless fields have other names or are left out. */
export async function mapped(file: Blob, sniffed: Sniffed, mapping: Mapping): Promise<Blob> {
  if (isIdentity(mapping)) {
    return isFree(sniffed.format) ? await withoutMark(file) : file;
  }
  if (file.size > MOST_REWRITTEN_BYTES) {
    throw new Unreadable("The file is too large to be changed here.");
  }
  const text = await textOf(file);
  if (sniffed.format === "NDJSON") {
    return new Blob([ndjsonWith(text, mapping)]);
  }
  const columns = sniffed.fields.flatMap(({ name }, at) => {
    const column = mapping.get(name);
    return column === null || column === undefined ? [] : [{ at, name: column }];
  });
  return new Blob([csvWith(text, columns)]);
}

// Otherwise, what is not UTF-8 would be replaced, and the gateway would write it so.
async function textOf(file: Blob): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch (error) {
    throw error instanceof TypeError ? new Unreadable("The file is not text in UTF-8. Save it as UTF-8.") : error;
  }
}

// Some programs begin a text with a mark of its encoding, which the gateway would take for a part of the first name.
async function withoutMark(file: Blob): Promise<Blob> {
  const [first, second, third] = new Uint8Array(await file.slice(0, 3).arrayBuffer());
  return first === 0xef && second === 0xbb && third === 0xbf ? file.slice(3) : file;
}
