/** The gateway's JSON about tables, as far as the console reads it. */

import type { Selection, Whole } from "./answers";

export interface TableColumn {
  fieldId: number;
  name: string;
  type: string;
  required: boolean;
  doc: string | null;
}

export interface Snapshot {
  snapshotId: Whole;
  parentId: Whole | null;
  committedAt: string;
  operation: string | null;
}

export interface Reference {
  name: string;
  kind: "BRANCH" | "TAG";
  snapshotId: Whole;
}

export interface TablePruning {
  table: string;
  queries: number;
  scans: number;
  dataFiles: Selection;
  bytes: Selection;
  filters: { total: number; applied: number; byReason: Record<string, number>; collectMs: number };
}

export interface TableAnswer {
  name: string;
  catalog: string;
  schema: string;
  table: string;
  source: "ICEBERG" | "FILES" | "OTHER";
  formatVersion: number;
  location: string;
  snapshotId: Whole | null;
  columns: TableColumn[];
  partitionSpec: { name: string; source: string; transform: string }[];
  sortOrder: { source: string; transform: string; direction: string; nullOrder: string }[];
  snapshots: Snapshot[];
  references: Reference[];
  recordCount: Whole | null;
  recordCountAtMost: Whole | null;
  dataFileCount: Whole;
  totalBytes: Whole;
  comment: string | null;
  acceptedFilterColumns: { column: string; by: string }[];
  pruning: TablePruning | null;
}

export interface Maintenance {
  maintenanceId: string;
  branch: string;
  state: string;
  operations: string[];
  requestedBy: string;
  requestedAt: string;
  startedAt: string | null;
  endedAt: string | null;
  results: { operation: string; counts: Record<string, number>; tookMs: number }[];
  error: { code: string; detail: string } | null;
}

export interface Maintenances {
  /** Whether the caller may ask for more; an older gateway does not say. */
  mayRequest?: boolean;
  schedule: { isOn: boolean; intervalS: number; appendedFiles: number; idleS: number; operations: string[] };
  floors: { snapshotsOlderThanHours: number; retainLast: number; orphansOlderThanHours: number };
  maintenances: Maintenance[];
}

export interface ReadAmount {
  dataFiles: Whole;
  bytes: Whole;
}

export interface LayoutAdvice {
  kind: string;
  reason: string;
  columns: string[];
  before: ReadAmount;
  after: ReadAmount;
  savedBytes: Whole;
  savedShare: number;
  statements: string[];
}

export interface TableAdvice {
  dataFiles: Whole;
  sampledRows: Whole;
  workload: {
    since: string;
    scans: number;
    unexplainedScans: number;
    recorded: ReadAmount;
    simulated: ReadAmount;
    columns: { column: string; scans: number }[];
  };
  advice: LayoutAdvice[];
  notes: string[];
}
