/** What the gateway advises on the layout of a table, in words. */

import type { LayoutAdvice, TableAdvice } from "../gateway/table_answers";
import { count, counted, share, size } from "../words/numbers";

/** The kind of advice that the gateway can follow by itself, by its maintenance. */
export const COMPACTION = "COMPACTION";

/** Returns what would be changed. */
export function titleOf({ kind, columns }: Pick<LayoutAdvice, "kind" | "columns">): string {
  const by = columns.join(", ");
  const titles: Readonly<Record<string, string>> = {
    PARTITION: `Partition by ${by}`,
    SORT: `Sort by ${by}`,
    BLOOM_FILTER: `Write bloom filters for ${by}`,
    FILE_SIZE: "Write files of another size",
    [COMPACTION]: "Put small files together",
  };
  return titles[kind] ?? kind;
}

/** Returns what the recorded scans would read, and how much less that is: of files for a compaction, otherwise of bytes. */
export function gainOf({ kind, before, after }: LayoutAdvice): string {
  const files = `${count(after.dataFiles)} instead of ${counted(before.dataFiles, "file")}`;
  const bytes = `${size(after.bytes)} instead of ${size(before.bytes)}`;
  return kind === COMPACTION
    ? `${files}, ${less(before.dataFiles, after.dataFiles)}; ${bytes}`
    : `${bytes}, ${less(before.bytes, after.bytes)}; ${files}`;
}

/** Returns how much is left, from 0 to 100, of what the kind of advice is about. */
export function leftOf({ kind, before, after }: LayoutAdvice): number {
  return kind === COMPACTION ? share(after.dataFiles, before.dataFiles) : share(after.bytes, before.bytes);
}

function less(before: number | bigint, after: number | bigint): string {
  const part = Number(before) === 0 ? 0 : (Number(before) - Number(after)) / Number(before);
  // Less than all is not all.
  const percent = part < 1 ? Math.min(99, Math.floor(Math.abs(part) * 100)) : 100;
  return part < 0 ? `${percent} % more` : `${percent} % less`;
}

/** Returns what the advice rests on. */
export function basisOf({ workload, sampledRows }: TableAdvice): string {
  const others = workload.unexplainedScans > 0 ? `; ${counted(workload.unexplainedScans, "other")} cannot be simulated` : "";
  return `Predicted for ${counted(workload.scans, "recorded scan")}${others}, from ${counted(sampledRows, "sampled row")}. They read ${size(workload.recorded.bytes)} then, and would read ${size(workload.simulated.bytes)} of the files of now.`;
}
