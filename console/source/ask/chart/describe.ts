/** What a chart shows, in words: for those who do not see it. */

import { counted } from "../../words/numbers";
import type { Choice, Kind } from "./axes";
import type { Point } from "./points";

const NAMES: Record<Kind, string> = { bar: "Bar chart", line: "Line chart", scatter: "Chart of points" };

export function describe(points: readonly Point[], { kind, xName, yName }: Choice): string {
  const [first, last] = [points[0], points[points.length - 1]];
  if (first === undefined || last === undefined) {
    return `${NAMES[kind]} of ${yName} by ${xName}, without rows.`;
  }
  const least = points.reduce((found, point) => (point.y < found.y ? point : found), first);
  const most = points.reduce((found, point) => (point.y > found.y ? point : found), first);
  return (
    `${NAMES[kind]} of ${yName} by ${xName}: ${counted(points.length, "row")} from ${first.xText} to ${last.xText}. ` +
    `The least is ${least.yText} at ${least.xText}, the greatest ${most.yText} at ${most.xText}. The table has all values.`
  );
}
