import type { JSX, TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import type { Decision } from "../gateway/admin_answers";
import type { Problem } from "../gateway/answers";
import { post, problemIn } from "../gateway/requests";
import { Lines } from "../page/lines";
import { ProblemNote } from "../page/problem_note";
import type { Person } from "./people";
import { wordsIn } from "./typed_words";

const ACTIONS = ["select", "insert", "modify", "describe", "create", "maintain", "admin"];

interface Props {
  roles: readonly string[];
  /** Who has keys, with their roles; empty: it is not known. */
  people: readonly Person[];
}

/** Asks what the stored policies decide for a person, or for whoever has these roles. It changes nothing. */
export function Decide({ roles, people }: Props): JSX.Element {
  const [typed, setTyped] = useState("");
  const [person, setPerson] = useState("");
  const [decision, setDecision] = useState<{ about: string; found: Decision } | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const choose = (name: string): void => {
    setPerson(name);
    setTyped(people.find((each) => each.name === name)?.roles ?? "");
  };
  const type = (text: string): void => {
    setPerson("");
    setTyped(text);
  };
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const body = { roles: wordsIn(typed), action: String(given.get("action")), table: String(given.get("table")).trim() };
    setBusy(true);
    post<Decision>("/policies/decide", body).then(
      (found) => {
        setBusy(false);
        setProblem(null);
        setDecision({ about: `${body.action} on ${body.table}, ${person === "" ? "" : `for ${person} `}with ${body.roles.length === 0 ? "no role" : body.roles.join(", ")}`, found });
      },
      (error: unknown) => {
        setBusy(false);
        setDecision(null);
        setProblem(problemIn(error));
      },
    );
  };
  return (
    <>
      <form class="fields" onSubmit={submit}>
        {people.length > 0 && (
          <label>Person
            <select value={person} onChange={(event) => choose(event.currentTarget.value)}>
              <option value="">none chosen</option>
              {people.map(({ name }) => <option value={name}>{name}</option>)}
            </select>
          </label>
        )}
        <label>Roles <input name="roles" value={typed} onInput={(event) => type(event.currentTarget.value)} list="known-roles" spellcheck={false} autocomplete="off" placeholder="reader, analyst" /></label>
        <datalist id="known-roles">{roles.map((role) => <option value={role} />)}</datalist>
        <label>Action <select name="action">{ACTIONS.map((action) => <option value={action}>{action}</option>)}</select></label>
        <label>Table <input name="table" required spellcheck={false} autocomplete="off" placeholder="catalog.schema.table" /></label>
        <button type="submit" disabled={isBusy}>{isBusy ? "Asking …" : "Decide"}</button>
      </form>
      {problem !== null && <ProblemNote problem={problem} />}
      {decision !== null && <Decided about={decision.about} found={decision.found} />}
    </>
  );
}

function Decided({ about, found }: { about: string; found: Decision }): JSX.Element {
  const isAllowed = found.decision === "ALLOWED";
  const words = { ALLOWED: "allowed", DENIED: "denied", NOT_GRANTED: "not granted" }[found.decision];
  const masks = Object.entries(found.masks).map(([column, expression]) => ({
    key: column,
    cells: [<span class="mono">{column}</span>, <span class="mono">{expression}</span>],
  }));
  return (
    <div class="decision" role="status">
      <p><span class={`state ${isAllowed ? "SUCCEEDED" : "FAILED"}`}>{words}</span> {about}</p>
      {isAllowed && <p>{found.rowFilter === null ? "All rows are seen." : <>Only rows where <span class="mono">{found.rowFilter}</span> is true are seen.</>}</p>}
      {isAllowed && <Lines label="Masked columns" heads={["Column", "Seen instead"]} rows={masks} none="All columns are seen as they are." />}
    </div>
  );
}
