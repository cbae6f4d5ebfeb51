/** The gateway's JSON for operators and administrators, as far as the console reads it. */

import type { Whole } from "./answers";

export interface Readiness {
  status: "READY" | "DEGRADED" | "NOT_READY";
  parts: Record<string, { state: string; detail: string }>;
}

export interface Replica {
  replicaId: string;
  name: string;
  startedAt: string;
  silentMs: number | null;
  openQueries: number;
  isThisOne: boolean;
}

export interface Replicas {
  replicas: Replica[];
  lostAfterMs: number;
}

/** A count is null where the gateway does not count. */
export interface Cache {
  name: string;
  entries: number;
  bytes: number;
  maxBytes: number;
  hits: number | null;
  misses: number | null;
  evictions: number | null;
  canBeEmptied: boolean;
}

export interface CachedFilter {
  fingerprint: string;
  tables: string[];
  columns: string[];
  predicate: string;
  values: number;
  form: string;
  bytes: number;
  exceedsThreshold: boolean;
  createdAt: string;
  expiresAt: string;
}

export interface Key {
  keyId: string;
  principal: string;
  roles: string[];
  description: string;
  createdAt: string;
  createdBy: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
  revokedBy: string | null;
}

export interface MadeKey extends Key {
  key: string;
}

export interface RolePolicies {
  grants: { tables: string; actions: string[] }[];
  denies: { tables: string; actions: string[] }[];
  rowFilters: { tables: string; predicate: string }[];
  masks: { tables: string; column: string; mask?: string; expression?: string }[];
  definerViews: { view: string; definition: string }[];
}

export interface Policies {
  version: number;
  roles: Record<string, RolePolicies>;
}

export interface PolicyChanges {
  changes: { version: number; changedAt: string; changedBy: string; difference: Record<"added" | "removed", Record<string, RolePolicies>> }[];
}

export interface Decision {
  version: number;
  decision: "ALLOWED" | "DENIED" | "NOT_GRANTED";
  rowFilter: string | null;
  masks: Record<string, string>;
}

export interface AuditEvent {
  position: Whole;
  at: string;
  action: string;
  outcome: string;
  errorCode: string | null;
  principal: string | null;
  address: string | null;
  target: string | null;
  tables: string[];
  statement: string | null;
  count: number;
}
