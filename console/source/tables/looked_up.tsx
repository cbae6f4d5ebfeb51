import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem, Row, Status } from "../gateway/answers";
import { problemIn } from "../gateway/requests";
import { ProblemNote } from "../page/problem_note";
import { type LookUp, rowsOf } from "./look_up";

interface Props {
  /** What the button says. */
  name: string;
  /** What the answer costs, or where it comes from. */
  note: string;
  sqls: readonly string[];
  children: (answers: Row[][]) => ComponentChildren;
}

/** An answer that costs a query, so it is only asked for by a click. Leaving the page cancels it. */
export function LookedUp({ name, note, sqls, children }: Props): JSX.Element {
  const [answers, setAnswers] = useState<Row[][] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [status, setStatus] = useState<Status | "sending" | null>(null);
  const asked = useRef<LookUp | null>(null);
  const subject = sqls.join("\n;\n");
  const leave = (): void => {
    if (asked.current !== null) {
      asked.current.isLeft = true;
      asked.current = null;
    }
    setStatus(null);
  };
  useEffect(() => {
    setAnswers(null);
    setProblem(null);
    return leave;
  }, [subject]);
  const look = async (): Promise<void> => {
    const own: LookUp = { isLeft: false, onStatus: setStatus };
    asked.current = own;
    setProblem(null);
    setStatus("sending");
    try {
      const found = await allRows(sqls, own);
      if (found !== null) {
        setAnswers(found);
      }
    } catch (error) {
      if (!own.isLeft) {
        setProblem(problemIn(error));
      }
    }
    if (!own.isLeft) {
      setStatus(null);
    }
  };
  return (
    <>
      {problem !== null && <ProblemNote problem={problem} />}
      {answers !== null && children(answers)}
      <p class="look">
        {status === null ? (
          <button type="button" onClick={() => void look()}>{problem !== null ? "Try again" : answers === null ? name : `${name} again`}</button>
        ) : (
          <>
            <span role="status">{wordsOf(status)}</span>
            <button type="button" class="quiet" onClick={leave}>Cancel</button>
          </>
        )}
        {answers === null && status === null && <span class="note">{note}</span>}
      </p>
    </>
  );
}

// One after the other: they are no reason to take two places of the gateway at once.
async function allRows(sqls: readonly string[], asked: LookUp): Promise<Row[][] | null> {
  const found: Row[][] = [];
  for (const sql of sqls) {
    const rows = await rowsOf(sql, asked);
    if (rows === null) {
      return null;
    }
    found.push(rows);
  }
  return asked.isLeft ? null : found;
}

function wordsOf(status: Status | "sending"): string {
  if (status === "sending") {
    return "Sending …";
  }
  if (status.queue !== null && status.queue.position > 0) {
    return `Waiting, number ${status.queue.position} in ${status.queue.group} …`;
  }
  return "Looking …";
}
