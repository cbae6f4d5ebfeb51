/** Keeps an answer of the gateway up to date while somebody can see it. */

import { useCallback, useEffect, useState } from "preact/hooks";
import type { Problem } from "./answers";
import { Looking } from "./looking";

export interface Answer<T> {
  /** The newest answer. It stays while later questions fail. null: there is none yet. */
  value: T | null;
  problem: Problem | null;
  again: () => void;
}

/**
 * Asks once, or every so many milliseconds while the page is visible. `subject` is what the question is about:
 * with another one, the old answer goes.
 */
export function useAnswer<T extends object>(ask: () => Promise<T>, subject: string, everyMs: number | null = null): Answer<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((before) => before + 1), []);
  useEffect(() => {
    setValue(null);
    setProblem(null);
  }, [subject]);
  useEffect(() => {
    const looking = new Looking(ask, everyMs, (found) => {
      setValue(found);
      setProblem(null);
    }, setProblem);
    looking.start();
    return () => looking.stop();
  }, [subject, everyMs, turn]);
  return { value, problem, again };
}
