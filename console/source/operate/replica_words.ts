/** Whether a replica is alive, in words. */

import type { Replica } from "../gateway/admin_answers";
import { duration } from "../words/numbers";

type Seen = Pick<Replica, "silentMs">;

export function isAlive({ silentMs }: Seen, lostAfterMs: number): boolean {
  return silentMs !== null && silentMs < lostAfterMs;
}

export function stateOf(replica: Seen, lostAfterMs: number): string {
  if (replica.silentMs === null) {
    return "has ended";
  }
  return isAlive(replica, lostAfterMs) ? "alive" : `silent for ${duration(replica.silentMs)}`;
}
