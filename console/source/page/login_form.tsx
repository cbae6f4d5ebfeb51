import type { JSX, TargetedSubmitEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Login, Problem } from "../gateway/answers";
import { logIn, problemIn } from "../gateway/requests";
import { Mark } from "./mark";

interface Props {
  problem: Problem;
  onLogin: (login: Login) => void;
  onRetry: () => void;
}

/** Asks for an API key; or says what is down, if a key would not help. */
export function LoginForm({ problem, onLogin, onRetry }: Props): JSX.Element {
  return (
    <main class="login">
      <h1><Mark />Sluice</h1>
      {problem.status === 401 ? <KeyForm onLogin={onLogin} /> : <Down problem={problem} onRetry={onRetry} />}
    </main>
  );
}

function KeyForm({ onLogin }: { onLogin: (login: Login) => void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => field.current?.focus(), []);
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
      <button type="submit" class="primary" disabled={isBusy}>{isBusy ? "Logging in …" : "Log in"}</button>
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
