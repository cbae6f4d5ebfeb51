import type { JSX, TargetedSubmitEvent } from "preact";
import type { ListedQuery } from "../gateway/answers";
import { get } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { hashOf } from "../page/route";
import { clock, counted, duration } from "../words/numbers";

const LOOK_EVERY_MS = 5_000;

/** The caller's newest queries, from any client; and a field for the id of another one. */
export function Recent(): JSX.Element {
  const answer = useAnswer(async () => (await get<{ queries: ListedQuery[] }>("/query?limit=50")).queries, "newest", LOOK_EVERY_MS);
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
      <section class="past" aria-labelledby="recent-title">
        <h2 id="recent-title">Your newest queries</h2>
        <Answered answer={answer}>{(queries) => <Queries queries={queries} />}</Answered>
      </section>
    </>
  );
}

function Queries({ queries }: { queries: readonly ListedQuery[] }): JSX.Element {
  if (queries.length === 0) {
    return <p class="none">There are none yet.</p>;
  }
  return (
    <ol>
      {queries.map((query) => (
        <li key={query.queryId}>
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
  );
}
