/** The names and types of the columns of a Parquet file, from its footer. */

import { Unreadable } from "./csv_text";
import { BINARY, LIST, STRUCT, TRUE, Thrift } from "./thrift";

const MAGIC = "PAR1";
const TAIL_BYTES = 8;
const MOST_FOOTER_BYTES = 32 * 1024 * 1024;
const SCHEMA_FIELD = 2;
// Members of an element of the schema, and the logical types that say more than its physical one.
const [TYPE, NAME, CHILDREN, CONVERTED, SCALE, PRECISION, LOGICAL] = [1, 4, 5, 6, 7, 8, 10];
const IS_REPEATED = 2;
const REPETITION = 3;
const TIMESTAMP_LOGICAL = 8;
const PHYSICAL: readonly (string | null)[] = ["boolean", "int", "long", "timestamp", "float", "double", "binary", "binary"];
const CONVERTED_TYPES: Readonly<Record<number, string | null>> = {
  0: "string", 4: "string", 6: "date", 7: null, 8: null, 9: "timestamptz", 10: "timestamptz", 11: "int", 12: "int", 13: "long", 14: null, 19: "string",
};
const [TEXT_LOGICAL, ENUM_LOGICAL, TIME_LOGICAL, DECIMAL_CONVERTED] = [1, 4, 7, 5];

/** A column of a file. `type` is spelled as Iceberg does; null: no column of a new table can have it here. */
export interface FileColumn {
  name: string;
  type: string | null;
}

export async function parquetColumns(file: Blob): Promise<FileColumn[]> {
  const tail = new DataView(await file.slice(-TAIL_BYTES).arrayBuffer());
  if (tail.byteLength < TAIL_BYTES || new TextDecoder().decode(tail.buffer.slice(4)) !== MAGIC) {
    throw new Unreadable("The end of this Parquet file is missing.");
  }
  const length = tail.getUint32(0, true);
  if (length > MOST_FOOTER_BYTES || length + TAIL_BYTES > file.size) {
    throw new Unreadable("The footer of this Parquet file is not one.");
  }
  return columnsInFooter(new Uint8Array(await file.slice(-TAIL_BYTES - length, -TAIL_BYTES).arrayBuffer()));
}

interface Element {
  name: string;
  children: number;
  physical: number;
  repetition: number;
  converted: number | null;
  scale: number;
  precision: number;
  logical: { kind: number; isUtc: boolean } | null;
}

/** Returns the outermost columns. */
export function columnsInFooter(footer: Uint8Array): FileColumn[] {
  const reader = new Thrift(footer);
  for (const field of reader.fields()) {
    if (field.id === SCHEMA_FIELD && field.kind === LIST) {
      const elements = reader.list(() => element(reader));
      return outermost(elements);
    }
    reader.skip(field.kind);
  }
  throw new Unreadable("The footer of this Parquet file has no schema.");
}

function element(reader: Thrift): Element {
  const found: Element = { name: "", children: 0, physical: -1, repetition: 0, converted: null, scale: 0, precision: 0, logical: null };
  for (const field of reader.fields()) {
    if (field.id === NAME && field.kind === BINARY) {
      found.name = reader.text();
    } else if (field.id === LOGICAL && field.kind === STRUCT) {
      found.logical = logicalType(reader);
    } else if (!takeNumber(found, field.id, reader)) {
      reader.skip(field.kind);
    }
  }
  return found;
}

function takeNumber(found: Element, id: number, reader: Thrift): boolean {
  switch (id) {
    case TYPE: found.physical = reader.integer(); return true;
    case REPETITION: found.repetition = reader.integer(); return true;
    case CHILDREN: found.children = reader.integer(); return true;
    case CONVERTED: found.converted = reader.integer(); return true;
    case SCALE: found.scale = reader.integer(); return true;
    case PRECISION: found.precision = reader.integer(); return true;
    default: return false;
  }
}

/** Reads a union of structs, and of the one for moments whether they are in UTC. */
function logicalType(reader: Thrift): Element["logical"] {
  let found: Element["logical"] = null;
  for (const member of reader.fields()) {
    if (member.id === TIMESTAMP_LOGICAL && member.kind === STRUCT) {
      let isUtc = false;
      for (const part of reader.fields()) {
        isUtc ||= part.id === 1 && part.kind === TRUE;
        reader.skip(part.kind);
      }
      found = { kind: member.id, isUtc };
    } else {
      found = { kind: member.id, isUtc: false };
      reader.skip(member.kind);
    }
  }
  return found;
}

function typeOf({ children, repetition, physical, converted, scale, precision, logical }: Element): string | null {
  if (children > 0 || repetition === IS_REPEATED || logical?.kind === TIME_LOGICAL) {
    return null;
  }
  if (logical?.kind === TIMESTAMP_LOGICAL) {
    return logical.isUtc ? "timestamptz" : "timestamp";
  }
  if (logical?.kind === TEXT_LOGICAL || logical?.kind === ENUM_LOGICAL) {
    return "string";
  }
  if (converted === DECIMAL_CONVERTED) {
    return `decimal(${precision}, ${scale})`;
  }
  const known = converted === null ? undefined : CONVERTED_TYPES[converted];
  return known === undefined ? (PHYSICAL[physical] ?? null) : known;
}

function outermost(elements: readonly Element[]): FileColumn[] {
  const columns: FileColumn[] = [];
  let at = 1;
  while (at < elements.length) {
    const own = elements[at];
    if (own !== undefined) {
      columns.push({ name: own.name, type: typeOf(own) });
    }
    // Elements are listed depth first: those below this one come next.
    let left = 1;
    while (left > 0 && at < elements.length) {
      left += (elements[at]?.children ?? 0) - 1;
      at += 1;
    }
  }
  return columns;
}
