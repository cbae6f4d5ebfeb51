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

/** What is known by table, in lower case. null: several scans of one table cannot be told apart in a plan. */
export type ReadingByTable = ReadonlyMap<string, Reading | null>;

export function readingByTable(scans: readonly Scan[], progress: readonly ScanProgress[]): ReadingByTable {
  const ended = scans.map(({ table, dataFiles }): [string, Reading] => [table.toLowerCase(), { files: dataFiles, rows: null, isLive: false }]);
  const live = progress.flatMap(({ table, rows, dataFiles: { read, selected } }): [string, Reading][] => {
    const files = read === null || selected === null ? null : { selected: read, total: selected };
    return table === null ? [] : [[table.toLowerCase(), { files, rows, isLive: true }]];
  });
  const all = [...ended, ...live];
  const isAlone = (table: string): boolean => all.filter(([other]) => other === table).length === 1;
  return new Map(all.map(([table, reading]) => [table, isAlone(table) ? reading : null]));
}

/**
 * Returns what is known of a table by its name in the plan. While a query runs, that may be as in its text: without
 * catalog and schema. Such a name is of the only table that ends with it.
 */
export function readingOfTable(name: string, reading: ReadingByTable): Reading | undefined {
  const wanted = name.toLowerCase();
  if (wanted === "") {
    return undefined;
  }
  const own = reading.has(wanted) ? [wanted] : [...reading.keys()].filter((table) => table.endsWith(`.${wanted}`));
  const [only, ...others] = own;
  return only === undefined || others.length > 0 ? undefined : (reading.get(only) ?? undefined);
}

export function wordsOfReading({ files, rows, isLive }: Reading): string {
  const said = files === null ? "" : `${count(files.selected)} of ${count(files.total)} files`;
  if (!isLive) {
    return said;
  }
  const read = rows === null ? "" : `${rows < MILLION ? count(rows) : `${(rows / MILLION).toFixed(1)} M`} rows`;
  return [read, said].filter((part) => part !== "").join(", ") || "not known yet";
}
