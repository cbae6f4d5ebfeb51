/** The gateway's JSON, as far as the console reads it. The HTTP API page of the documentation has all of it. */

export type State = "QUEUED" | "RUNNING" | "SUCCEEDED" | "FAILED" | "CANCELED";

export type Right = "allQueries" | "filters" | "replicas" | "keys" | "policies" | "audit";

export interface Login {
  principal: string;
  hasLogin: boolean;
  rights: Right[];
}

export interface IssuerToLogIn {
  name: string;
  title: string;
}

export interface WaysToLogIn {
  apiKeys: boolean;
  issuers: IssuerToLogIn[];
}

export interface ProblemError {
  detail: string;
  line: number | null;
  column: number | null;
  nearest: string[] | null;
}

export interface Problem {
  title: string;
  status: number;
  detail: string;
  code: string;
  errors: ProblemError[];
  /** Tables that a refused ingest has made or changed. */
  evolutions?: { table: string; created: boolean }[];
}

export interface Selection {
  total: Whole;
  selected: Whole;
}

export interface ScanProgress {
  table: string | null;
  rows: number | null;
  dataFiles: { read: number | null; selected: number | null };
}

export interface Progress {
  phase: string;
  percent: number;
  stages: { completed: number; total: number } | null;
  tasks: { completed: number; running: number; total: number } | null;
  rows: number | null;
  bytes: number | null;
  scans: ScanProgress[];
}

export interface Status {
  state: State;
  error: { code: string; detail: string; errors: ProblemError[] } | null;
  queue: { position: number; group: string } | null;
  queuedMs: number;
  elapsedMs: number;
  progress: Progress | null;
}

export interface Column {
  name: string;
  type: string;
  nullable: boolean;
}

export interface Manifest {
  columns: Column[];
  totalRowCount: number;
  totalByteCount: number;
  truncated: boolean;
}

export type Cell = unknown;
export type Row = readonly Cell[];

export interface Chunk {
  rows: Row[];
  nextChunkLink: string | null;
}

export interface PruningSum {
  filters: number;
  applied: number;
  dataFiles: Selection;
  bytes: Selection;
}

export interface Reused {
  kind: string;
  from: string;
  ageMs: number;
}

export interface QueryAnswer {
  queryId: string;
  status: Status;
  reused: Reused | null;
  manifest: Manifest | null;
  result: Chunk | null;
  pruning: PruningSum | null;
}

export interface ListedQuery {
  queryId: string;
  principal: string;
  sql: string;
  state: State;
  errorCode: string | null;
  submittedAt: string;
  queue: { position: number; group: string } | null;
  elapsedMs: number;
  rowCount: number;
}

export interface ListedColumn {
  name: string;
  type: string;
}

export interface ListedTable {
  name: string;
  catalog: string;
  schema: string;
  table: string;
  kind: string;
  columns: ListedColumn[] | null;
}

export type Whole = number | bigint;

export interface Scan {
  table: string;
  snapshotId: Whole | null;
  partitions: Selection;
  manifests: Selection;
  dataFiles: Selection;
  /** Files that row groups noted before leave out. A gateway of the version before does not say. */
  dataFilesLeftOut?: Whole;
  bytes: Selection;
  /** Those of Parquet files; null: it is not known of all files. A gateway of the version before does not say. */
  rowGroups?: Selection | null;
  rows: { total: number; read: number | null };
  hasRun: boolean;
  native: boolean | null;
  planningMs: number;
}

export interface Filter {
  filterId: string;
  joinType: string;
  probe: { table: string; columns: string[]; alias: string | null };
  build: { tables: string[]; columns: string[]; predicate: string };
  source: string;
  values: number;
  bytes: number;
  form: string;
  ranges: [number | string, number | string][];
  collectMs: number;
  applied: boolean;
  reason: string;
  cacheNote: string;
  detail: string;
}

export interface Explanation {
  queryId: string | null;
  sql: string;
  catalog: string | null;
  schema: string | null;
  rewrittenSql: string | null;
  state: State | "PLANNED";
  error: { code: string; detail: string } | null;
  filters: Filter[];
  rewrites: { rewrite: string; table: string | null; detail: string }[];
  scans: Scan[];
  plans: { ast: string; optimizedPhysical: string; execution: string; spark: string };
  timings: Record<"queuedMs" | "parseMs" | "detectMs" | "filtersMs" | "planMs" | "runMs", number>;
  reused: Reused | null;
  traceId: string | null;
  progress: Progress | null;
}

export function isFinal(state: State | "PLANNED"): boolean {
  return state === "PLANNED" || state === "SUCCEEDED" || state === "FAILED" || state === "CANCELED";
}
