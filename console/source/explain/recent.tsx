import type { JSX, TargetedSubmitEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ListedQuery, Problem } from "../gateway/answers";
import { get, problemIn } from "../gateway/requests";
import { ProblemNote } from "../page/problem_note";
import { hashOf } from "../page/route";
import { clock, counted, duration } from "../words/numbers";

const LOOK_EVERY_MS = 5_000;

/** The caller's newest queries, from any client; and a field for the id of another one. */
export function Recent(): JSX.Element {
  const [queries, setQueries] = useState<ListedQuery[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    const look = (): void => {
      get<{ queries: ListedQuery[] }>("/query?limit=50").then(
        (found) => setQueries(found.queries),
        (error: unknown) => setProblem(problemIn(error)),
      );
    };
    look();
    const timer = setInterval(look, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const open = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const id = new FormData(event.currentTarget).get("id");
    location.hash = hashOf("explain", String(id).trim());
  };
  return (
    <>
      <form class="open-one" onSubmit={open}>
        <label for="query-id">Query id</label>
        <input id="query-id" name="id" required spellcheck={false} class="mono" placeholder="00000000-0000-0000-0000-000000000000" />
        <button type="submit" class="button">Explain</button>
      </form>
      {problem !== null && <ProblemNote problem={problem} />}
      <section class="past" aria-labelledby="recent-title">
        <h2 id="recent-title">Your newest queries</h2>
        {queries?.length === 0 && <p class="none">There are none yet.</p>}
        <ol>
          {queries?.map((query) => (
            <li>
              <a class="past-sql mono" href={hashOf("explain", query.queryId)}>{query.sql.replace(/\s+/g, " ").trim().slice(0, 400)}</a>
              <p class="soft">
                <span class={`state ${query.state}`}>{query.state.toLowerCase()}</span>
                <span>{clock(query.submittedAt)}</span>
                <span>{duration(query.elapsedMs)}</span>
                <span>{query.errorCode ?? counted(query.rowCount, "row")}</span>
              </p>
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}
