import type { JSX, TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import type { MadeKey } from "../gateway/admin_answers";
import type { Problem } from "../gateway/answers";
import { post, problemIn } from "../gateway/requests";
import { ProblemNote } from "../page/problem_note";
import { wordsIn } from "./typed_words";

const LONGEST_DAYS = 3_650;

interface Props {
  onMade: (key: MadeKey) => void;
  /** A key may have been made all the same, if the answer was lost. */
  onFailed: () => void;
}

/** A form for a new key. Its secret goes to `onMade`, and nowhere else. */
export function NewKey({ onMade, onFailed }: Props): JSX.Element {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const days = String(given.get("days")).trim();
    const body = {
      principal: String(given.get("principal")).trim(),
      roles: wordsIn(String(given.get("roles"))),
      description: String(given.get("description")).trim(),
      expiresInDays: days === "" ? null : Number(days),
    };
    setBusy(true);
    post<MadeKey>("/keys", body).then(onMade, (error: unknown) => {
      setBusy(false);
      setProblem(problemIn(error));
      onFailed();
    });
  };
  return (
    <form class="fields" onSubmit={submit}>
      <label>Principal <input name="principal" required maxLength={255} spellcheck={false} autocomplete="off" /></label>
      <label>Roles <input name="roles" spellcheck={false} autocomplete="off" placeholder="reader, analyst" /></label>
      <label>Description <input name="description" maxLength={1000} autocomplete="off" /></label>
      <label>Expires after days <input name="days" type="number" min={1} max={LONGEST_DAYS} defaultValue="90" placeholder="never" /></label>
      <button type="submit" class="primary" disabled={isBusy}>{isBusy ? "Creating …" : "Create"}</button>
      {problem !== null && <ProblemNote problem={problem} />}
    </form>
  );
}
