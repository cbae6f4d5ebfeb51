import type { ComponentChildren, JSX } from "preact";
import type { Answer } from "../gateway/use_answer";
import { ProblemNote } from "./problem_note";

interface Props<T> {
  answer: Answer<T>;
  children: (value: T) => ComponentChildren;
}

/** An answer of the gateway; or that it is on its way; or why there is none, with a way to try again. */
export function Answered<T>({ answer, children }: Props<T>): JSX.Element {
  const { value, problem, again } = answer;
  return (
    <>
      {problem !== null && (
        <ProblemNote problem={problem}>
          {value !== null && <p class="note">The last answer is below. It may be old.</p>}
          <p><button type="button" class="link" onClick={again}>Try again</button></p>
        </ProblemNote>
      )}
      {value === null && problem === null && <p class="none" role="status">Loading …</p>}
      {value !== null && children(value)}
    </>
  );
}
