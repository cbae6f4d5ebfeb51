/** The gateway's JSON about ingests and streams, as far as the console reads it. */

import type { Whole } from "./answers";

export type IngestState = "ACCEPTED" | "COMMITTED" | "FAILED";

export interface ListedWrite {
  table: string;
  branch: string;
  state: IngestState;
  /** null: the whole table schema. */
  writeSchemaColumnIds: number[] | null;
  records: number;
  dataFiles: number;
}

export interface ListedIngest {
  ingestId: string;
  state: IngestState;
  acceptedAt: string;
  tables: string[];
  records: number;
  writeMs: number;
  writes: ListedWrite[];
  rejectedRecords: number;
}

export interface Ingests {
  ingests: ListedIngest[];
  nextPageToken: string | null;
}

export interface Spread {
  p50: number;
  p95: number;
  max: number;
}

export interface TableIngests {
  table: string;
  ingests: number;
  waiting: number;
  failedByCode: Record<string, number>;
  records: number;
  rejectedRecords: number;
  dataFiles: number;
  bytes: number;
  writeMs: Spread;
  rounds: { total: number; ingestsPerRound: number; mostIngests: number; commitMs: Spread };
}

export interface IngestSummary {
  since: string;
  tables: TableIngests[];
}

export interface WriteTarget {
  writeSchemaColumnIds: number[] | null;
  dataFiles: number;
  records: number;
  deletedKeys: number;
  upsert: { equalityFieldIds: number[] } | null;
}

export interface Commit {
  table: string;
  branch: string;
  snapshotId: Whole | null;
  addedRecords: number;
  addedDataFiles: number;
  addedBytes: number;
  writeTargets: WriteTarget[];
  error: { code: string; detail: string } | null;
  postponed: string | null;
}

export interface BadRecord {
  detail: string;
  pointer: string | null;
  line: number | null;
  column: number | null;
  row: number | null;
}

export interface Ingest {
  ingestId: string;
  state: IngestState;
  commits: Commit[];
  rejected: { count: number; samples: BadRecord[] };
  note: string | null;
}

export interface Stream {
  streamId: string;
  principal: string;
  name: string;
  state: "RUNNING" | "STOPPED" | "FAILED";
  error: { code: string; detail: string } | null;
  createdAt: string;
  progress: { batches: number; records: number; rejected: number; lastBatchAt: string | null };
  /** null: another gateway runs it, or none does. */
  lag: { lagMs: number; messages: number | null } | null;
  definition: Record<string, unknown>;
}
