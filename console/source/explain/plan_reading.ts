/** What a scan in the picture of a plan says: what it read, or has read so far. */

import type { Scan, ScanProgress, Selection } from "../gateway/answers";
import { count } from "../words/numbers";

export interface Reading {
  /** Selected of all while nothing runs; read of selected while it does. null: not known. */
  files: Selection | null;
  /** What it has read so far. null: not known, or not shown. */
  rows: number | null;
  isLive: boolean;
}

const MILLION = 1_000_000;

/** Returns what is known by table, in lower case. Several scans of one table cannot be told apart in a plan. */
export function readingByTable(scans: readonly Scan[], progress: readonly ScanProgress[]): Map<string, Reading> {
  const ended = scans.map(({ table, dataFiles }): [string, Reading] => [table.toLowerCase(), { files: dataFiles, rows: null, isLive: false }]);
  const live = progress.flatMap(({ table, rows, dataFiles: { read, selected } }): [string, Reading][] => {
    const files = read === null || selected === null ? null : { selected: read, total: selected };
    return table === null ? [] : [[table.toLowerCase(), { files, rows, isLive: true }]];
  });
  const all = [...ended, ...live];
  return new Map(all.filter(([table]) => all.filter(([other]) => other === table).length === 1));
}

export function wordsOfReading({ files, rows, isLive }: Reading): string {
  const said = files === null ? "" : `${count(files.selected)} of ${count(files.total)} files`;
  if (!isLive) {
    return said;
  }
  const read = rows === null ? "" : `${rows < MILLION ? count(rows) : `${(rows / MILLION).toFixed(1)} M`} rows`;
  return [read, said].filter((part) => part !== "").join(", ") || "not known yet";
}
