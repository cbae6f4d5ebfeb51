/** How many columns a file has, of those of the table. */

import type { Cell } from "../gateway/answers";
import { count } from "../words/numbers";
import { isNested } from "./metadata_sql";

export function numberOf(cell: Cell): number {
  return typeof cell === "number" ? cell : typeof cell === "bigint" ? Number(cell) : 0;
}

/**
 * Says the width of a file. A file counts each field of a nested column, and columns that the table has no more:
 * then the number of columns is nothing to compare it with.
 */
export function widthOf(width: Cell, columns: readonly { type: string }[]): string {
  const known = numberOf(width);
  // Spark says -1, or NULL, where a writer did not record the sizes of columns.
  if (known <= 0) {
    return "not recorded";
  }
  return known > columns.length || columns.some(isNested) ? count(known) : `${count(known)} of ${count(columns.length)}`;
}
