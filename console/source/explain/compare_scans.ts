/** Puts what two runs of one text read of each table beside each other. */

import type { Explanation, Scan, Selection, Whole } from "../gateway/answers";

export const LEVELS = ["partitions", "manifests", "dataFiles", "bytes"] as const;
export type Level = (typeof LEVELS)[number];

/** What all scans of one table read together. */
export type Sums = Record<Level, Selection> & {
  scans: number;
  /** null: those of one of the scans are not known. */
  rowGroups: Selection | null;
  /** null: the text was only planned. */
  rows: Whole | null;
};

export interface ComparedTable {
  table: string;
  /** null: this run has no scan of the table. */
  written: Sums | null;
  pruned: Sums | null;
  /** The two runs have read different snapshots. */
  hasMoved: boolean;
}

/** Returns each table once: scans of one table may come in another order in another plan, so they are added up. */
export function comparedTables(written: readonly Scan[], pruned: readonly Scan[]): ComparedTable[] {
  const all = [...pruned, ...written];
  return [...new Set(all.map(keyOf))].map((key) => {
    const of = (scans: readonly Scan[]): Scan[] => scans.filter((scan) => keyOf(scan) === key);
    const [left, right] = [of(written), of(pruned)];
    const hasMoved = left.length > 0 && right.length > 0 && snapshotsOf(left) !== snapshotsOf(right);
    return { table: of(all)[0]?.table ?? key, written: sumsOf(left), pruned: sumsOf(right), hasMoved };
  });
}

/** The time that is comparable: that of the query's own work, without the wait for its turn. */
export function workMs({ timings }: Pick<Explanation, "timings">): { planning: number; running: number } {
  return { planning: timings.parseMs + timings.detectMs + timings.filtersMs + timings.planMs, running: timings.runMs };
}

function keyOf(scan: Scan): string {
  return scan.table.toLowerCase();
}

function snapshotsOf(scans: readonly Scan[]): string {
  return [...new Set(scans.map((scan) => String(scan.snapshotId)))].sort().join();
}

function sumsOf(scans: readonly Scan[]): Sums | null {
  if (scans.length === 0) {
    return null;
  }
  const together = (selections: readonly Selection[]): Selection => ({
    total: sum(selections.map(({ total }) => total)),
    selected: sum(selections.map(({ selected }) => selected)),
  });
  const level = (name: Level): Selection => together(scans.map((scan) => scan[name]));
  const groups = scans.map((scan) => scan.rowGroups ?? null).filter((found) => found !== null);
  const read = scans.map((scan) => scan.rows.read);
  return {
    scans: scans.length,
    partitions: level("partitions"),
    manifests: level("manifests"),
    dataFiles: level("dataFiles"),
    bytes: level("bytes"),
    rowGroups: groups.length < scans.length ? null : together(groups),
    rows: read.includes(null) ? null : sum(read.filter((rows) => rows !== null)),
  };
}

/** Adds up without a loss. */
export function sum(numbers: readonly Whole[]): Whole {
  const exact = numbers.reduce<bigint>((total, number) => total + BigInt(number), 0n);
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
}

/** Returns how much of the first number the second one leaves out, in words. */
export function leftOut(written: Whole, pruned: Whole): string {
  if (written === pruned) {
    return "the same";
  }
  if (pruned > written) {
    return "more";
  }
  const percent = (1 - Number(pruned) / Number(written)) * 100;
  const isAtEnd = percent < 1 || (percent > 99 && percent < 100);
  return isAtEnd ? `${percent < 1 ? "under 1" : "over 99"} %` : `${Math.round(percent)} %`;
}
