import type { JSX } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { History } from "../ask/history";
import type { Login, Problem } from "../gateway/answers";
import { get, problemIn, remove, whenLoggedOut, whoIsHere } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Contained } from "./contained";
import { LoginForm } from "./login_form";
import { Mark } from "./mark";
import { ProblemNote } from "./problem_note";
import { ROOMS } from "./rooms";
import { useRoute } from "./route";

/** The whole page: the login, or the rooms of who is logged in. */
export function Console(): JSX.Element {
  const [login, setLogin] = useState<Login | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const look = useCallback(() => {
    whoIsHere<Login>().then(
      (found) => {
        setLogin(found);
        setProblem(null);
      },
      (error: unknown) => {
        setLogin(null);
        setProblem(problemIn(error));
      },
    );
  }, []);
  useEffect(() => {
    whenLoggedOut(look);
    look();
  }, [look]);
  if (login !== null) {
    return <Rooms login={login} onLogout={look} />;
  }
  if (problem === null) {
    return <p class="waiting" role="status">Looking for the gateway …</p>;
  }
  return <LoginForm problem={problem} onLogin={setLogin} onRetry={look} />;
}

// Rights may change, and while the gateway starts, it does not know all of them.
const RIGHTS_EVERY_MS = 60_000;

function Rooms({ login: found, onLogout }: { login: Login; onLogout: () => void }): JSX.Element {
  const login = useAnswer(() => get<Login>("/console/session"), found.principal, RIGHTS_EVERY_MS).value ?? found;
  const route = useRoute();
  const [problem, setProblem] = useState<Problem | null>(null);
  const room = ROOMS.find((each) => each.name === route.room) ?? ROOMS[0];
  useEffect(() => {
    document.title = `${room?.title ?? ""} · Sluice`;
  }, [room]);
  const logOut = (): void => {
    new History(login.principal).clear();
    // Otherwise, the next user of this browser would find the query in the address.
    window.history.replaceState(null, "", "#/ask");
    remove("/console/session").then(onLogout, (error: unknown) => setProblem(problemIn(error)));
  };
  const Content = room?.content;
  return (
    <>
      <a class="skip" href="#main" onClick={focusMain}>Skip to the content</a>
      <header class="bar">
        <a class="brand" href="#/ask"><Mark />Sluice</a>
        <nav aria-label="Rooms">
          {ROOMS.filter((each) => each.isFor === undefined || each.isFor(login)).map((each) => (
            <a href={`#/${each.name}`} aria-current={each === room ? "page" : undefined}>{each.title}</a>
          ))}
        </nav>
        <span class="who">
          <span class="name" title={login.principal}>{login.principal}</span>
          {login.hasLogin && <button type="button" class="quiet" onClick={logOut}>Log out</button>}
        </span>
      </header>
      <main id="main" tabIndex={-1}>
        {problem !== null && <ProblemNote problem={problem}><p class="note">You are still logged in.</p></ProblemNote>}
        <Contained key={room?.name} name={room?.title ?? ""} subject={`${route.id}?${route.values}`}>
          {Content && <Content login={login} route={route} />}
        </Contained>
      </main>
    </>
  );
}

function focusMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
