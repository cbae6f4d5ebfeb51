/** What could make queries of a table read less, in words. */

import type { TableAnswer, TablePruning } from "../gateway/table_answers";

const SMALL_FILE_BYTES = 16_000_000;
const MANY_FILES = 50;
const LITTLE_LEFT_OUT = 0.2;
const SOME_QUERIES = 10;

export const ACCEPTED_BY: Readonly<Record<string, string>> = {
  PARTITION: "partitions",
  SORT: "sort order",
  BLOOM: "bloom filters",
  CLUSTERED: "clustered values",
  BOUNDS: "bounds, perhaps",
};

/** Whether the gateway shows this caller how many files the table has. */
export function showsCounts(table: TableAnswer): boolean {
  return table.snapshotId === null || table.dataFileCount > 0 || table.recordCountAtMost !== null;
}

export function adviceOf(table: TableAnswer, pruning: TablePruning | null): string[] {
  if (table.source === "OTHER") {
    return ["Spark reads this table in its own way, so the gateway cannot prune it."];
  }
  const advice: string[] = [];
  const certain = table.acceptedFilterColumns.filter((each) => each.by !== "BOUNDS");
  if (certain.length === 0 && table.dataFileCount > 1) {
    advice.push(
      "No column is known to tell files apart. Partition or sort the table by a column that queries join on, or set bloom filters for it.",
    );
  }
  if (table.dataFileCount >= MANY_FILES && Number(table.totalBytes) / Number(table.dataFileCount) < SMALL_FILE_BYTES) {
    const of = table.partitionSpec.length > 0 ? "those of one partition" : "them";
    advice.push(`Its files are small. The maintenance “compact” merges ${of}, so that queries open fewer.`);
  }
  if (table.recordCount === null && table.recordCountAtMost !== null) {
    advice.push("Some of its files delete rows by their values, so every reader has to apply them. “compact” does it once.");
  }
  if (pruning !== null && pruning.queries >= SOME_QUERIES && isLittle(pruning)) {
    advice.push(
      "Queries read most of its files. Below are the reasons why filters were not applied: the first one matters most.",
    );
  }
  return advice;
}

/** Returns the reasons against filters, the most frequent first. */
export function reasonsOf(pruning: TablePruning): [string, number][] {
  return Object.entries(pruning.filters.byReason)
    .filter(([reason, times]) => reason !== "APPLIED" && times > 0)
    .toSorted(([, left], [, right]) => right - left);
}

function isLittle({ dataFiles }: TablePruning): boolean {
  const [total, selected] = [Number(dataFiles.total), Number(dataFiles.selected)];
  return total > 0 && (total - selected) / total < LITTLE_LEFT_OUT;
}
