import type { JSX, TargetedSubmitEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Login, Problem, WaysToLogIn } from "../gateway/answers";
import { logIn, problemIn, waysToLogIn } from "../gateway/requests";
import { IssuerButtons } from "./issuer_buttons";
import { Mark } from "./mark";

interface Props {
  problem: Problem;
  onLogin: (login: Login) => void;
  onRetry: () => void;
}

/** Offers the ways to log in; or says what is down, if none of them would help. */
export function LoginForm({ problem, onLogin, onRetry }: Props): JSX.Element {
  return (
    <main class="login">
      <h1><Mark />Sluice</h1>
      {problem.status === 401 ? <Ways onLogin={onLogin} /> : <Down problem={problem} onRetry={onRetry} />}
    </main>
  );
}

function Ways({ onLogin }: { onLogin: (login: Login) => void }): JSX.Element {
  const [ways, setWays] = useState<WaysToLogIn | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const look = (): void => {
    setProblem(null);
    waysToLogIn().then(setWays, (error: unknown) => setProblem(problemIn(error)));
  };
  useEffect(look, []);
  if (problem !== null) {
    return <Down problem={problem} onRetry={look} />;
  }
  if (ways === null) {
    return <p class="waiting" role="status">Looking for the gateway …</p>;
  }
  if (!ways.apiKeys && ways.issuers.length === 0) {
    return <div><p>This gateway has no login for browsers. Its operator can allow API keys, or users of an issuer.</p></div>;
  }
  return (
    <>
      {ways.issuers.length > 0 && <IssuerButtons issuers={ways.issuers} />}
      {ways.apiKeys && <KeyForm onLogin={onLogin} isFirst={ways.issuers.length === 0} />}
    </>
  );
}

function KeyForm({ onLogin, isFirst }: { onLogin: (login: Login) => void; isFirst: boolean }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (isFirst) {
      field.current?.focus();
    }
  }, [isFirst]);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const key = field.current?.value.trim() ?? "";
    setBusy(true);
    logIn<Login>(key).then(onLogin, (error: unknown) => {
      setBusy(false);
      setProblem(problemIn(error));
      field.current?.select();
    });
  };
  return (
    <form onSubmit={submit}>
      <label for="key">API key</label>
      <input
        id="key"
        ref={field}
        type="password"
        autocomplete="current-password"
        spellcheck={false}
        required
        aria-describedby="key-note"
        aria-invalid={problem !== null}
      />
      <p id="key-note" class="note">An administrator makes keys with <code>sluice keys create</code>.</p>
      {problem !== null && <p class="error" role="alert">{problem.detail}</p>}
      <button type="submit" class={isFirst ? "primary" : undefined} disabled={isBusy}>
        {isBusy ? "Logging in …" : isFirst ? "Log in" : "Log in with a key"}
      </button>
    </form>
  );
}

function Down({ problem, onRetry }: { problem: Problem; onRetry: () => void }): JSX.Element {
  return (
    <div>
      <p class="error" role="alert">{problem.detail}</p>
      <button type="button" class="primary" onClick={onRetry}>Try again</button>
    </div>
  );
}
