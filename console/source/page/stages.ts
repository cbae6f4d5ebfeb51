/** How a button that asks whether one is sure goes from one stage to the next. */

export type Stage = "idle" | "sure" | "busy";

/**
 * Returns the stage after a click; `clicks` is its number in a row, as browsers count them. The second half of a
 * double click is no answer to a question that nobody can have read.
 */
export function stageAfter(stage: Stage, clicks: number): Stage {
  return stage === "idle" || clicks > 1 ? "sure" : "busy";
}
