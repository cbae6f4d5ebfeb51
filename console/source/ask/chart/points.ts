/** The points of a chart: what the rows are on its axes, and which rows are not drawn. */

import type { Cell, Column, Row } from "../../gateway/answers";
import { textOf } from "../cells";
import { type Choice, isScaled, isTemporal } from "./axes";

export const MOST_BARS = 100;
export const MOST_POINTS = 5_000;

export interface Point {
  /** The place at the bottom: a number, milliseconds, or the place among the drawn rows. */
  x: number;
  y: number;
  /** The values as the rows have them, with all digits. */
  xText: string;
  yText: string;
}

export interface Points {
  points: Point[];
  /** Rows whose values are NULL, or no place on an axis, such as NaN. */
  unplaced: number;
  /** Rows that are not drawn because there are too many. */
  beyond: number;
}

/** Returns the points of the rows, in the order in which they are drawn. */
export function pointsOf(rows: readonly Row[], columns: readonly Column[], choice: Choice): Points {
  const [bottom, side] = [columns[choice.x], columns[choice.y]];
  const points: Point[] = [];
  let [unplaced, beyond] = [0, 0];
  if (bottom === undefined || side === undefined) {
    return { points, unplaced, beyond };
  }
  const most = choice.kind === "bar" ? MOST_BARS : MOST_POINTS;
  const hasScale = choice.kind !== "bar" && isScaled(bottom);
  for (const row of rows) {
    const [xCell, yCell] = [row[choice.x], row[choice.y]];
    const y = placeOf(yCell, side);
    const x = hasScale ? placeOf(xCell, bottom) : points.length;
    if (!Number.isFinite(y) || !Number.isFinite(x)) {
      unplaced += 1;
    } else if (points.length === most) {
      beyond += 1;
    } else {
      points.push({ x, y, xText: shown(xCell), yText: shown(yCell) });
    }
  }
  if (choice.kind === "line" && hasScale) {
    // A line that goes back and forth says nothing. Equal places keep the order of their rows.
    points.sort((a, b) => a.x - b.x);
  }
  return { points, unplaced, beyond };
}

function placeOf(cell: Cell, column: Column): number {
  if (cell === null || cell === undefined) {
    return Number.NaN;
  }
  return isTemporal(column) ? momentOf(textOf(cell)) : Number(cell);
}

/** Returns a date or a time in milliseconds. One without a zone is placed as it is written, in every browser. */
export function momentOf(text: string): number {
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/i.test(text) && text.length > 10;
  const written = text.replace(" ", "T");
  return Date.parse(hasZone || written.length <= 10 ? written : `${written}Z`);
}

function shown(cell: Cell): string {
  return cell === null || cell === undefined ? "NULL" : textOf(cell);
}
