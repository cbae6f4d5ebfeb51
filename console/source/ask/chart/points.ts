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

// As the gateway writes them: years after 9999 have a sign, and old offsets have seconds.
const MOMENT = /^([+-]?)(\d{4,6})-(\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z|([+-])(\d\d):?(\d\d)(?::(\d\d))?)?)?$/i;

/** Returns a date or a time in milliseconds. One without a zone is placed as it is written, in every browser. */
export function momentOf(text: string): number {
  const found = MOMENT.exec(text);
  if (found === null) {
    // Browsers guess at other texts, and find moments that nobody has written.
    return Number.NaN;
  }
  const [, sign = "", digits = "", day = "", clock = "00:00", side, hours, minutes, seconds] = found;
  const year = sign === "" ? digits : `${sign}${digits.padStart(6, "0")}`;
  const offset = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0);
  return Date.parse(`${year}-${day}T${clock}Z`) - (side === "-" ? -offset : offset) * 1000;
}

function shown(cell: Cell): string {
  return cell === null || cell === undefined ? "NULL" : textOf(cell);
}
