/** Values of cells as text, and their order. */

import type { Cell, Column, Row } from "../gateway/answers";
import { exactText } from "../gateway/exact_json";

const NUMERIC = /^(TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL)/i;
const EXACT = /^(BIGINT|DECIMAL)/i;
const DIGITS_OF_DOUBLE = 15;
const DIGITS = new Intl.Collator("en", { numeric: true });

export function isNumeric(column: Column): boolean {
  return NUMERIC.test(column.type);
}

/** Returns the text of a value that is not NULL. */
export function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : typeof cell === "object" ? exactText(cell) : String(cell);
}

export interface Order {
  column: number;
  isDescending: boolean;
}

/** Returns the rows in this order; NULL is last in both directions. Equal rows keep their places. */
export function sorted(rows: readonly Row[], column: Column | undefined, order: Order | null): readonly Row[] {
  if (order === null || column === undefined) {
    return rows;
  }
  const valued = rows.filter((row) => row[order.column] !== null);
  const compare = isNumeric(column) ? byNumber(valued, column, order) : byText(valued, order);
  const sign = order.isDescending ? -1 : 1;
  const places = valued.map((_, place) => place).sort((a, b) => sign * compare(a, b));
  const nulls = rows.filter((row) => row[order.column] === null);
  return [...places.map((place) => valued[place] as Row), ...nulls];
}

type Compare = (a: number, b: number) => number;

function byText(rows: readonly Row[], order: Order): Compare {
  const keys = rows.map((row) => textOf(row[order.column]));
  return (a, b) => {
    const [left = "", right = ""] = [keys[a], keys[b]];
    return left < right ? -1 : Number(left > right);
  };
}

function byNumber(rows: readonly Row[], column: Column, order: Order): Compare {
  const keys = Float64Array.from(rows, (row) => numberOf(row[order.column]));
  const isExact = EXACT.test(column.type);
  const textAt = (place: number): string => textOf(rows[place]?.[order.column]);
  return (a, b) => {
    const difference = (keys[a] ?? 0) - (keys[b] ?? 0);
    return difference !== 0 || !isExact ? difference : byDigits(textAt(a), textAt(b));
  };
}

function numberOf(cell: Cell): number {
  const number = Number(cell);
  // NaN is larger than all other numbers, as in Spark.
  return Number.isNaN(number) ? Number.MAX_VALUE : Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, number));
}

// Numbers of more digits than a double has differ in their texts.
function byDigits(a: string, b: string): number {
  if (a === b || (a.length <= DIGITS_OF_DOUBLE && b.length <= DIGITS_OF_DOUBLE)) {
    return 0;
  }
  const sign = a.startsWith("-") ? -1 : 1;
  return sign * DIGITS.compare(a, b);
}

/** Returns rows as a spreadsheet takes them from the clipboard. */
export function tabbed(columns: readonly Column[], rows: readonly Row[]): string {
  const head = columns.map((column) => column.name);
  const lines = rows.map((row) => row.map((cell) => (cell === null ? "" : textOf(cell))));
  return [head, ...lines].map((line) => line.map(field).join("\t")).join("\n");
}

function field(text: string): string {
  return /[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
