/** Reads the audit log's lines of JSON. */

import type { AuditEvent } from "../gateway/admin_answers";
import { exactJson } from "../gateway/exact_json";

/** A last line that was cut off is left out: the gateway lost its store while it answered. */
export function eventsIn(text: string): AuditEvent[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.flatMap((line) => {
    try {
      return [exactJson(line) as AuditEvent];
    } catch {
      return [];
    }
  });
}
