/** Values of cells as text, and their order. */

import type { Cell, Column, Row } from "../gateway/answers";
import { exactText } from "../gateway/exact_json";

const NUMERIC = /^(TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL)/i;
const EXACT = /^(BIGINT|DECIMAL)/i;

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
  const compare = comparing(column);
  const sign = order.isDescending ? -1 : 1;
  return rows.toSorted((left, right) => {
    const [a, b] = [left[order.column], right[order.column]];
    if (a === null || b === null) {
      return Number(a === null) - Number(b === null);
    }
    return sign * compare(a, b);
  });
}

function comparing(column: Column): (a: Cell, b: Cell) => number {
  if (!isNumeric(column)) {
    return (a, b) => (textOf(a) < textOf(b) ? -1 : textOf(a) > textOf(b) ? 1 : 0);
  }
  return (a, b) => {
    const difference = numberOf(a) - numberOf(b);
    // Numbers of more digits than a double has differ in their texts.
    return difference !== 0 || !EXACT.test(column.type) ? difference : byDigits(textOf(a), textOf(b));
  };
}

function numberOf(cell: Cell): number {
  const number = Number(cell);
  // NaN is larger than all other numbers, as in Spark.
  return Number.isNaN(number) ? Number.MAX_VALUE : Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, number));
}

function byDigits(a: string, b: string): number {
  const sign = a.startsWith("-") ? -1 : 1;
  return sign * a.localeCompare(b, "en", { numeric: true });
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
