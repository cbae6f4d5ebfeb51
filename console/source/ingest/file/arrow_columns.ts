/** The names and types of the columns of an Arrow stream, from its first message: a table of FlatBuffers. */

import { Unreadable } from "./csv_text";
import type { FileColumn } from "./parquet_columns";

const CONTINUES = 0xffffffff;
const MOST_SCHEMA_BYTES = 16 * 1024 * 1024;
const SCHEMA = 1;
const [HEADER_KIND_SLOT, HEADER_SLOT, FIELDS_SLOT, NAME_SLOT, KIND_SLOT, TYPE_SLOT] = [1, 2, 1, 0, 2, 3];
// Kinds of types of a field.
const [INT, FLOATING, BINARY, UTF8, BOOL, DECIMAL, DATE, TIMESTAMP, LARGE_BINARY, LARGE_UTF8] = [2, 3, 4, 5, 6, 7, 8, 10, 19, 20];
const DOUBLE = 2;

export async function arrowColumns(file: Blob): Promise<FileColumn[]> {
  const head = new DataView(await file.slice(0, 8).arrayBuffer());
  if (head.byteLength < 8 || head.getUint32(0, true) !== CONTINUES) {
    throw new Unreadable("This is not an Arrow stream.");
  }
  const length = head.getUint32(4, true);
  if (length > MOST_SCHEMA_BYTES || length + 8 > file.size) {
    throw new Unreadable("The schema of this Arrow stream breaks off.");
  }
  return columnsInMessage(await file.slice(8, 8 + length).arrayBuffer());
}

/** Returns the outermost columns of a message with a schema. */
export function columnsInMessage(message: ArrayBuffer): FileColumn[] {
  const view = new DataView(message);
  try {
    const root = view.getUint32(0, true);
    const kindAt = slot(view, root, HEADER_KIND_SLOT);
    const headerAt = slot(view, root, HEADER_SLOT);
    if (kindAt === null || headerAt === null || view.getUint8(kindAt) !== SCHEMA) {
      throw new Unreadable("This Arrow stream does not begin with a schema.");
    }
    const schema = pointed(view, headerAt);
    const fieldsAt = slot(view, schema, FIELDS_SLOT);
    return fieldsAt === null ? [] : vector(view, pointed(view, fieldsAt)).map((field) => ({ name: nameOf(view, field), type: typeOf(view, field) }));
  } catch (error) {
    throw error instanceof RangeError ? new Unreadable("The schema of this Arrow stream is broken.") : error;
  }
}

function nameOf(view: DataView, field: number): string {
  const at = slot(view, field, NAME_SLOT);
  if (at === null) {
    return "";
  }
  const text = pointed(view, at);
  return new TextDecoder().decode(new Uint8Array(view.buffer, text + 4, view.getUint32(text, true)));
}

function typeOf(view: DataView, field: number): string | null {
  const kindAt = slot(view, field, KIND_SLOT);
  const typeAt = slot(view, field, TYPE_SLOT);
  if (kindAt === null || typeAt === null) {
    return null;
  }
  const type = pointed(view, typeAt);
  switch (view.getUint8(kindAt)) {
    case INT: return wholeType(numberIn(view, type, 0), byteIn(view, type, 1) === 1);
    case FLOATING: return shortIn(view, type, 0) === DOUBLE ? "double" : "float";
    case UTF8: case LARGE_UTF8: return "string";
    case BINARY: case LARGE_BINARY: return "binary";
    case BOOL: return "boolean";
    case DATE: return "date";
    case DECIMAL: return numberIn(view, type, 0) > 38 ? null : `decimal(${numberIn(view, type, 0)}, ${numberIn(view, type, 1)})`;
    case TIMESTAMP: return slot(view, type, 1) === null ? "timestamp" : "timestamptz";
    default: return null;
  }
}

function wholeType(bits: number, isSigned: boolean): string | null {
  const needed = isSigned ? bits : bits + 1;
  return needed <= 32 ? "int" : needed <= 64 ? "long" : null;
}

function numberIn(view: DataView, table: number, number: number): number {
  const at = slot(view, table, number);
  return at === null ? 0 : view.getInt32(at, true);
}

function shortIn(view: DataView, table: number, number: number): number {
  const at = slot(view, table, number);
  return at === null ? 0 : view.getInt16(at, true);
}

function byteIn(view: DataView, table: number, number: number): number {
  const at = slot(view, table, number);
  return at === null ? 0 : view.getUint8(at);
}

function vector(view: DataView, at: number): number[] {
  const length = view.getUint32(at, true);
  if (length > view.byteLength / 4) {
    throw new RangeError();
  }
  return Array.from({ length }, (_, entry) => pointed(view, at + 4 + entry * 4));
}

function pointed(view: DataView, at: number): number {
  return at + view.getUint32(at, true);
}

/** Where a table has the value of a slot; null: it has none. */
function slot(view: DataView, table: number, number: number): number | null {
  const layout = table - view.getInt32(table, true);
  const place = 4 + number * 2;
  const offset = place < view.getUint16(layout, true) ? view.getUint16(layout + place, true) : 0;
  return offset === 0 ? null : table + offset;
}
