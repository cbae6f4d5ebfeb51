/** Keeps an answer of the gateway up to date while somebody can see it. */

import { useCallback, useEffect, useState } from "preact/hooks";
import type { Problem } from "./answers";
import { mayRecover, pauseMs } from "./next_look";
import { problemIn } from "./requests";

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

class Looking<T> {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private isAsking = false;
  private isOver = false;

  constructor(
    private readonly ask: () => Promise<T>,
    private readonly everyMs: number | null,
    private readonly onValue: (value: T) => void,
    private readonly onProblem: (problem: Problem) => void,
  ) {}

  start(): void {
    document.addEventListener("visibilitychange", this.shown);
    void this.look();
  }

  stop(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.shown);
  }

  private readonly shown = (): void => {
    clearTimeout(this.timer);
    if (!document.hidden && this.everyMs !== null) {
      void this.look();
    }
  };

  private async look(): Promise<void> {
    if (this.isAsking || this.isOver) {
      return;
    }
    this.isAsking = true;
    let isHopeful = true;
    try {
      const found = await this.ask();
      this.failures = 0;
      if (!this.isOver) {
        this.onValue(found);
      }
    } catch (error) {
      const problem = problemIn(error);
      this.failures += 1;
      isHopeful = mayRecover(problem.status);
      if (!this.isOver) {
        this.onProblem(problem);
      }
    }
    this.isAsking = false;
    if (isHopeful && this.everyMs !== null && !this.isOver && !document.hidden) {
      this.timer = setTimeout(() => void this.look(), pauseMs(this.everyMs, this.failures));
    }
  }
}
