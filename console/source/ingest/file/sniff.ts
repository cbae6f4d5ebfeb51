/** Looks at a file: its format, its fields, and some of their values. */

import { arrowColumns } from "./arrow_columns";
import { Unreadable, csvRecords, unquotedValue } from "./csv_text";
import { TypeGuess } from "./guess_type";
import { membersIn } from "./ndjson_text";
import { type FileColumn, parquetColumns } from "./parquet_columns";

export type FileFormat = "CSV" | "NDJSON" | "PARQUET" | "ARROW";

export interface FileField {
  name: string;
  /** Some of its first values; empty where only the names are read. */
  samples: string[];
  /** The type that its values fit, as Iceberg spells it. null: no column of a new table can hold them here, such as lists. */
  type: string | null;
}

export interface Sniffed {
  format: FileFormat;
  fields: FileField[];
  /** Whether the file was longer than what was looked at, so that more fields may come. */
  isPart: boolean;
}

export const MEDIA_TYPES: Readonly<Record<FileFormat, string>> = {
  CSV: "text/csv",
  NDJSON: "application/x-ndjson",
  PARQUET: "application/vnd.apache.parquet",
  ARROW: "application/vnd.apache.arrow.stream",
};
const LOOKED_AT_BYTES = 1024 * 1024;
const MOST_RECORDS = 1_000;
const MOST_SAMPLES = 3;

/** Returns what is in the file. Throws Unreadable if the gateway would not take it. */
export async function sniff(file: File): Promise<Sniffed> {
  if (file.size === 0) {
    throw new Unreadable("The file is empty.");
  }
  const head = new Uint8Array(await file.slice(0, 8).arrayBuffer());
  const starts = (text: string): boolean => [...text].every((character, at) => head[at] === character.charCodeAt(0));
  if (starts("PAR1")) {
    return { format: "PARQUET", fields: fieldsOf(await parquetColumns(file)), isPart: false };
  }
  if (starts("ARROW1")) {
    throw new Unreadable("This is an Arrow file with an index. Save it as an Arrow stream.");
  }
  if (starts("\xff\xff\xff\xff")) {
    return { format: "ARROW", fields: fieldsOf(await arrowColumns(file)), isPart: false };
  }
  if (starts("\x1f\x8b") || starts("\x28\xb5\x2f\xfd") || starts("PK\x03\x04")) {
    throw new Unreadable("The file is compressed. Unpack it first, or send it by HTTP, which takes gzip and zstd.");
  }
  return sniffText(await file.slice(0, LOOKED_AT_BYTES).text(), file.name, file.size > LOOKED_AT_BYTES);
}

/** Returns what is in a text, which may be the beginning of a longer one. */
export function sniffText(text: string, name: string, isPart: boolean): Sniffed {
  const first = text.trimStart()[0];
  const isJson = first === "{" || first === "[";
  if (first === "[" && !name.toLowerCase().endsWith(".csv")) {
    throw new Unreadable("This is one JSON array. The gateway takes JSON lines: one object on each line.");
  }
  // The last line may break off.
  const whole = isPart ? text.slice(0, text.lastIndexOf("\n") + 1) : text;
  return isJson && !name.toLowerCase().endsWith(".csv")
    ? { format: "NDJSON", fields: jsonFields(whole), isPart }
    : { format: "CSV", fields: csvFields(whole, isPart), isPart };
}

function jsonFields(text: string): FileField[] {
  const fields = new Map<string, Seen>();
  for (const line of text.split("\n").slice(0, MOST_RECORDS)) {
    for (const { name, value } of membersIn(line) ?? []) {
      const seen = fields.get(name) ?? new Seen();
      fields.set(name, seen);
      seen.type.seeJson(value);
      if (value !== "null") {
        seen.add(value);
      }
    }
  }
  if (fields.size === 0) {
    throw new Unreadable("No line of the file is a JSON object with fields.");
  }
  return [...fields].map(([name, seen]) => seen.field(name));
}

function csvFields(text: string, isPart: boolean): FileField[] {
  let names: string[] | null = null;
  const fields: Seen[] = [];
  try {
    let count = 0;
    for (const { values } of csvRecords(text)) {
      if (names === null) {
        names = values.map((value) => unquotedValue(value) ?? "");
        fields.push(...names.map(() => new Seen()));
        continue;
      }
      values.forEach((value, at) => {
        const text = unquotedValue(value);
        if (text !== null) {
          fields[at]?.type.seeText(text);
          fields[at]?.add(text);
        }
      });
      count += 1;
      if (count >= MOST_RECORDS) {
        break;
      }
    }
  } catch (error) {
    // A quote may close behind what was looked at.
    if (!isPart || names === null) {
      throw error;
    }
  }
  if (names === null || names.some((name) => name === "")) {
    throw new Unreadable("The first line has to name each column.");
  }
  const [twice] = names.filter((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw new Unreadable(`The first line names “${twice}” twice.`);
  }
  return names.map((name, at) => (fields[at] ?? new Seen()).field(name));
}

/** What was seen of one field. */
class Seen {
  readonly type = new TypeGuess();
  private readonly samples: string[] = [];

  add(value: string): void {
    if (this.samples.length < MOST_SAMPLES) {
      this.samples.push(value);
    }
  }

  field(name: string): FileField {
    return { name, samples: this.samples, type: this.type.type };
  }
}

function fieldsOf(columns: readonly FileColumn[]): FileField[] {
  return columns.map(({ name, type }) => ({ name, samples: [], type }));
}
