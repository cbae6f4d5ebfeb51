/** What the gateway maintains by itself, and what a caller may ask for, in words. */

import type { Maintenances } from "../gateway/table_answers";
import { counted, duration } from "../words/numbers";

export const OPERATIONS: Readonly<Record<string, string>> = {
  compact: "merges files, and applies deletes",
  expire: "removes old snapshots",
  removeOrphans: "removes old files that no snapshot has",
};

export function scheduleWords(schedule: Maintenances["schedule"]): string {
  if (!schedule.isOn) {
    return "The gateway does none by itself.";
  }
  const hasCompact = schedule.operations.includes("compact");
  const when = [
    hasCompact ? `after upserts, at least ${duration(schedule.intervalS * 1000)} apart` : "",
    schedule.idleS > 0 ? `${duration(schedule.idleS * 1000)} after the last ingest` : "",
  ].filter((each) => each !== "");
  const files = hasCompact && schedule.appendedFiles > 0 ? ` ${counted(schedule.appendedFiles, "ingested file")} are compacted, as often at most.` : "";
  return `The gateway does ${schedule.operations.join(", ")} by itself: ${when.join("; and ")}.${files}`;
}

/** Whether these operations remove what nobody can bring back. */
export function asksFirst(operations: readonly string[]): boolean {
  return operations.some((operation) => operation !== "compact");
}

/** Whether to offer a request: a gateway that does not say refuses it by itself. */
export function mayRequest(found: Pick<Maintenances, "mayRequest"> | null): boolean {
  return found !== null && found.mayRequest !== false;
}

/** Whether one of a table's maintenances waits or runs: a table has at most one. */
export function isMaintained(found: Pick<Maintenances, "maintenances"> | null): boolean {
  return found?.maintenances.some(({ endedAt }) => endedAt === null) === true;
}
