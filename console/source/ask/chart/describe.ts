/** What a chart shows, in words: for those who do not see it. */

import { counted } from "../../words/numbers";
import type { Choice, Kind } from "./axes";
import type { Point } from "./points";

const NAMES: Record<Kind, string> = { bar: "Bar chart", line: "Line chart", scatter: "Chart of points" };

const MOST_READ = 100;

export function describe(points: readonly Point[], choice: Choice): string {
  const { kind } = choice;
  const [xName, yName] = [short(choice.xName, MOST_READ), short(choice.yName, MOST_READ)];
  const [first, last] = [points[0], points[points.length - 1]];
  if (first === undefined || last === undefined) {
    return `${NAMES[kind]} of ${yName} by ${xName}, without rows.`;
  }
  const least = points.reduce((found, point) => (point.y < found.y ? point : found), first);
  const most = points.reduce((found, point) => (point.y > found.y ? point : found), first);
  return (
    `${NAMES[kind]} of ${yName} by ${xName}: ${counted(points.length, "row")} from ${short(first.xText, MOST_READ)} to ${short(last.xText, MOST_READ)}. ` +
    `The least is ${valueOf(least)}, the greatest ${valueOf(most)}. The table has all values.`
  );
}

function valueOf(point: Point): string {
  return `${short(point.yText, MOST_READ)} at ${short(point.xText, MOST_READ)}`;
}

/** Returns a text of at most this many characters. */
export function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
