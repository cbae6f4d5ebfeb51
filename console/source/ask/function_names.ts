/** The functions that a query may call, as the gateway's own decisions have them. */

import functions from "./functions.json";
import { KEYWORDS } from "./spark_words";

export interface SqlFunction {
  name: string;
  /** What functions of its kind do. */
  says: string;
}

const WORDS_OF_SQL = new Set(KEYWORDS.split(" "));

/** All of them, without those that are words of SQL, which are completed as such. */
export const FUNCTION_NAMES: readonly SqlFunction[] = Object.entries(functions as Record<string, string>)
  .flatMap(([says, names]) => names.split(" ").map((name) => ({ name, says })))
  .filter(({ name }) => !WORDS_OF_SQL.has(name));
