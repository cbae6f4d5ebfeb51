import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { History } from "../ask/history";
import { Progress } from "../ask/progress";
import { type Explanation, isFinal } from "../gateway/answers";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { ProblemNote } from "../page/problem_note";
import type { RoomProps } from "../page/rooms";
import { type Route, hashOf } from "../page/route";
import { duration } from "../words/numbers";
import { Compare } from "./compare";
import { CopyLink } from "./copy_link";
import { linkOf } from "./explain_link";
import type { Live } from "./following";
import { Parts, Texts } from "./parts";
import { Recent } from "./recent";
import { SharedText } from "./shared_text";
import { statusOf, useExplained } from "./use_explained";

/** What a query read of the total, by which filters, in which plan; live until it ends. */
export function Explain({ login, route }: RoomProps): JSX.Element {
  const withId = route.values.get("with");
  return (
    <div class="explain">
      {route.id === "" ? <><h1>Explain</h1><Recent /></> : <One key={`${route.id} ${withId}`} id={idIn(route)} principal={login.principal} route={route} />}
    </div>
  );
}

interface OneProps {
  id: string;
  principal: string;
  route: Route;
}

function One({ id, principal, route }: OneProps): JSX.Element {
  const { answer, live } = useExplained(id);
  const isHidden = answer.value === null && answer.problem?.status === 404;
  return (
    <>
      <Answered answer={answer}>{(explanation) => <Ran explanation={explanation} live={live} id={id} principal={principal} route={route} />}</Answered>
      {isHidden && <SharedText values={route.values} />}
      {answer.value === null && answer.problem !== null && <p><a href="#/explain">Your newest queries</a></p>}
    </>
  );
}

function Ran({ explanation, live, id, principal, route }: OneProps & { explanation: Explanation; live: Live | null }): JSX.Element {
  const [withId, setWithId] = useState(route.values.get("with"));
  const isOver = isFinal(explanation.state);
  const state = live?.status.state ?? explanation.state;
  const keepRun = (next: string | null): void => {
    setWithId(next);
    window.history.replaceState(null, "", hashOf("explain", id, { with: next ?? "" }));
  };
  return (
    <>
      <header class="head">
        <h1>Explain</h1>
        <span class={`state ${state}`}>{state.toLowerCase()}</span>
        <code>{id}</code>
        <span class="head-tools">
          <CopyLink hash={() => linkOf(id, explanation, withId)} />
          <a class="button" href={hashOf("ask", "", againOf(explanation, id, principal))}>Ask it again</a>
        </span>
      </header>
      <Notes explanation={explanation} />
      {!isOver && (
        <Card title="Progress">
          <Progress {...statusOf(explanation, live)} hasScans={false} />
          {live?.isAsking === true && <p class="note">Events of the query do not come through, so the page asks for its state.</p>}
          {live !== null && live.problem !== null && <ProblemNote problem={live.problem} />}
        </Card>
      )}
      <Parts explanation={explanation} live={live} />
      {isOver && <Card title="As written, and pruned"><Compare id={id} explanation={explanation} withId={withId} onRun={keepRun} /></Card>}
      <Texts explanation={explanation} />
    </>
  );
}

function Notes({ explanation }: { explanation: Explanation }): JSX.Element {
  const { reused, error, traceId } = explanation;
  return (
    <>
      {error !== null && <p class="problem" role="alert"><code>{error.code}</code> <span class="detail">{error.detail}</span></p>}
      {reused !== null && (
        <p class="note">
          Its result is that of <a href={hashOf("explain", reused.from)}>{reused.from}</a>, {duration(reused.ageMs)} old.
        </p>
      )}
      {traceId !== null && <p class="note">Trace <code>{traceId}</code></p>}
    </>
  );
}

/** Returns the text with its place: as this browser asked it, or as the gateway completed it. */
function againOf(explanation: Explanation, id: string, principal: string): Record<string, string> {
  const asked = new History(principal).all().find((each) => each.queryId === id);
  const place = asked ?? { catalog: explanation.catalog ?? "", schema: explanation.schema ?? "" };
  return { sql: explanation.sql, catalog: place.catalog, schema: place.schema };
}

function idIn(route: Route): string {
  try {
    return decodeURIComponent(route.id);
  } catch {
    return route.id;
  }
}
