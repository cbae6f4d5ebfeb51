/** Sums ingests by table and write schema, and over time. */

import type { ListedIngest, ListedWrite } from "../gateway/ingest_answers";

export interface Group {
  key: string;
  table: string;
  branch: string;
  /** null: the whole table schema. */
  columnIds: readonly number[] | null;
  ingests: number;
  records: number;
  dataFiles: number;
  waiting: number;
  failed: number;
  /** Records by slot of time, the oldest first. */
  slots: number[];
}

export interface Groups {
  from: number;
  until: number;
  slotMs: number;
  groups: Group[];
}

export const SLOTS = 24;

/** Groups what these ingests wrote, the group with most records first. `until` is the end of the last slot. */
export function grouped(ingests: readonly ListedIngest[], until: number): Groups {
  const moments = ingests.map((ingest) => Date.parse(ingest.acceptedAt));
  const oldest = moments.reduce((least, moment) => Math.min(least, moment), until);
  const slotMs = Math.max(1, Math.ceil((until - oldest + 1) / SLOTS));
  const from = until - slotMs * SLOTS;
  const groups = new Map<string, Group>();
  ingests.forEach((ingest, at) => {
    const slot = Math.max(0, Math.min(SLOTS - 1, Math.floor(((moments[at] ?? from) - from) / slotMs)));
    for (const write of ingest.writes) {
      addTo(groups, write, slot);
    }
  });
  return { from, until, slotMs, groups: [...groups.values()].sort((one, other) => other.records - one.records || (one.key < other.key ? -1 : 1)) };
}

function addTo(groups: Map<string, Group>, write: ListedWrite, slot: number): void {
  const key = keyOf(write);
  const group = groups.get(key) ?? {
    key,
    table: write.table,
    branch: write.branch,
    columnIds: write.writeSchemaColumnIds,
    ingests: 0,
    records: 0,
    dataFiles: 0,
    waiting: 0,
    failed: 0,
    slots: Array.from({ length: SLOTS }, () => 0),
  };
  groups.set(key, group);
  group.ingests += 1;
  group.records += write.records;
  group.dataFiles += write.dataFiles;
  group.waiting += write.state === "ACCEPTED" ? 1 : 0;
  group.failed += write.state === "FAILED" ? 1 : 0;
  group.slots[slot] = (group.slots[slot] ?? 0) + write.records;
}

export function keyOf({ table, branch, writeSchemaColumnIds }: Pick<ListedWrite, "table" | "branch" | "writeSchemaColumnIds">): string {
  return JSON.stringify([table, branch, writeSchemaColumnIds]);
}
