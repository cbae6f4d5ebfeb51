/** When a part of the page that keeps itself up to date asks again. */

const LONGEST_MS = 60_000;

/** Returns the pause before the next question. After each failure in a row, it is twice as long. */
export function pauseMs(everyMs: number, failures: number): number {
  return Math.min(everyMs * 2 ** Math.min(failures, 10), Math.max(LONGEST_MS, everyMs));
}

/** Whether asking again, without a change by somebody, could end otherwise. */
export function mayRecover(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500;
}
