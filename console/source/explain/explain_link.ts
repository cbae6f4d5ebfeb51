/** The address of an explanation, as it is shared. */

import type { Explanation } from "../gateway/answers";
import { hashOf } from "../page/route";

// Longer addresses are cut off by some programs.
const MOST_CHARACTERS = 4_000;

type Shared = Pick<Explanation, "sql" | "catalog" | "schema">;

/**
 * Returns the fragment of an address. It has the text, so that a reader to whom the gateway does not show this
 * run can plan it with rights of their own. `withId` is the run of the text as written, if there is one.
 */
export function linkOf(id: string, explanation: Shared, withId: string | null): string {
  const values = { with: withId ?? "", catalog: explanation.catalog ?? "", schema: explanation.schema ?? "" };
  const whole = hashOf("explain", id, { ...values, sql: explanation.sql });
  return whole.length <= MOST_CHARACTERS ? whole : hashOf("explain", id, { with: values.with });
}
