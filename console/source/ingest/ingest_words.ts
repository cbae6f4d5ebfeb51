/** States and places of ingests, in words and classes of the page. */

import type { BadRecord } from "../gateway/ingest_answers";

/** The class of the page for a state of an ingest. */
export function stateClass(state: string): string {
  return { COMMITTED: "SUCCEEDED", FAILED: "FAILED" }[state] ?? "RUNNING";
}

/** Where a bad record is, as the gateway counts it. */
export function placeWords({ pointer, line, column, row }: Pick<BadRecord, "pointer" | "line" | "column" | "row">): string {
  const numbers = [["line", line], ["column", column], ["row", row]].filter(([, number]) => number != null).map((each) => each.join(" "));
  return [pointer, ...numbers].filter((part) => part != null && part !== "").join(", ") || "–";
}
