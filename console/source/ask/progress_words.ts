/** How far a query is, in words and shares. */

import type { Progress } from "../gateway/answers";
import { count, counted, share, size } from "../words/numbers";

export interface ProgressBar {
  name: string;
  isTable: boolean;
  /** From 0 to 100; null: it is not known. */
  part: number | null;
  words: string;
}

/** Returns the sums of the whole query. */
export function numbersOf({ tasks, rows, bytes }: Pick<Progress, "tasks" | "rows" | "bytes">): string {
  const parts = [
    tasks === null ? "" : `${count(tasks.completed)} of ${counted(tasks.total, "task")}`,
    rows === null ? "" : counted(rows, "row"),
    bytes === null ? "" : size(bytes),
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** Returns a bar for the stages, and one for each scan, in the order of the gateway. */
export function barsOf({ stages, scans }: Pick<Progress, "stages" | "scans">): ProgressBar[] {
  const ofStages = stages === null || stages.total === 0 ? [] : [{ name: "Stages", isTable: false, ...partOf(stages.completed, stages.total, "stage") }];
  return [
    ...ofStages,
    ...scans.map(({ table, rows, dataFiles: { read, selected } }) => {
      const files = read === null || selected === null ? { part: null, words: "" } : partOf(read, selected, "file");
      const words = [files.words, rows === null ? "" : counted(rows, "row")].filter((part) => part !== "").join(" · ");
      return { name: table ?? "a table", isTable: table !== null, part: files.part, words };
    }),
  ];
}

function partOf(done: number, total: number, noun: string): Pick<ProgressBar, "part" | "words"> {
  return { part: share(done, total), words: `${count(done)} of ${counted(total, noun)}` };
}
