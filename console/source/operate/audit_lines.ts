/** Reads the audit log's lines of JSON. */

import type { AuditEvent } from "../gateway/admin_answers";
import { exactJson } from "../gateway/exact_json";
import { refusal } from "../gateway/requests";

/** Returns the events. A log that was cut off is none: the gateway lost its store while it answered. */
export function eventsIn(text: string): AuditEvent[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map(eventIn);
}

function eventIn(line: string): AuditEvent {
  try {
    return exactJson(line) as AuditEvent;
  } catch {
    throw refusal("ANSWER_CUT_OFF", "The answer was cut off, so events are missing. Try again.");
  }
}
