/** Which columns a chart may have on its axes, by their types. */

import type { Column } from "../../gateway/answers";
import { isNumeric } from "../cells";

export type Kind = "bar" | "line" | "scatter";
export const KINDS: readonly (readonly [Kind, string])[] = [["bar", "Bars"], ["line", "Line"], ["scatter", "Points"]];

/** The places of the columns, and their names, by which a choice is found again in the next result. */
export interface Choice {
  kind: Kind;
  x: number;
  y: number;
  xName: string;
  yName: string;
}

const TEMPORAL = /^(DATE|TIMESTAMP)/i;
// Of their values, nobody could read a label.
const UNREADABLE = /^(ARRAY|MAP|STRUCT|BINARY|VARIANT|VOID|GEOMETRY|GEOGRAPHY)/i;

export function isTemporal(column: Column): boolean {
  return TEMPORAL.test(column.type);
}

/** Whether the values of a column have distances: it can be an axis with a scale. */
export function isScaled(column: Column): boolean {
  return isNumeric(column) || isTemporal(column);
}

/** Returns the places of the columns that may be at the bottom. */
export function bottomsFor(kind: Kind, columns: readonly Column[]): number[] {
  const may = (column: Column): boolean => (kind === "scatter" ? isScaled(column) : !UNREADABLE.test(column.type));
  return placesOf(columns, may);
}

/** Returns the places of the columns that may be at the side. */
export function sidesIn(columns: readonly Column[]): number[] {
  return placesOf(columns, isNumeric);
}

/** Returns the choice that suits these columns first. Null: there is nothing to draw. */
export function firstChoice(columns: readonly Column[]): Choice | null {
  const sides = sidesIn(columns);
  const times = placesOf(columns, isTemporal);
  const words = placesOf(columns, (column) => !isScaled(column) && !UNREADABLE.test(column.type));
  // Numbers alone: the first is most often what the others depend on.
  const x = times[0] ?? words[0] ?? sides[0];
  const y = sides.find((place) => place !== x) ?? sides[0];
  if (x === undefined || y === undefined) {
    return null;
  }
  const kind = times.length > 0 ? "line" : words.length > 0 || sides.length < 2 ? "bar" : "scatter";
  return chosen(kind, x, y, columns);
}

export function chosen(kind: Kind, x: number, y: number, columns: readonly Column[]): Choice {
  return { kind, x, y, xName: columns[x]?.name ?? "", yName: columns[y]?.name ?? "" };
}

/** Returns the choice if it suits the columns of another result as well; otherwise the first that does. */
export function fitting(choice: Choice, columns: readonly Column[]): Choice | null {
  const isThere = columns[choice.x]?.name === choice.xName && columns[choice.y]?.name === choice.yName;
  const suits = bottomsFor(choice.kind, columns).includes(choice.x) && sidesIn(columns).includes(choice.y);
  return isThere && suits ? choice : firstChoice(columns);
}

/** Returns the choice with another kind, and with another bottom if the kind needs one. Null: it has none. */
export function withKind(choice: Choice, kind: Kind, columns: readonly Column[]): Choice | null {
  const bottoms = bottomsFor(kind, columns);
  const x = bottoms.includes(choice.x) ? choice.x : (bottoms.find((place) => place !== choice.y) ?? bottoms[0]);
  return x === undefined ? null : chosen(kind, x, choice.y, columns);
}

function placesOf(columns: readonly Column[], may: (column: Column) => boolean): number[] {
  return columns.flatMap((column, place) => (may(column) ? [place] : []));
}
