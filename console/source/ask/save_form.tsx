import type { JSX, TargetedSubmitEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../gateway/answers";
import { problemIn } from "../gateway/requests";
import { type SavedQuery, saveAgain, saveNew } from "../gateway/saved_answers";
import { ProblemNote } from "../page/problem_note";
import type { Place } from "./completion";

const LONGEST_NAME = 1_000;

interface Props {
  sql: string;
  place: Place;
  /** The saved query that is being edited. null: none is. */
  opened: SavedQuery | null;
  onSaved: (saved: SavedQuery) => void;
  onNewest: (savedQueryId: string) => void;
  onClose: () => void;
}

/** Saves the text of the editor under a name: over the query that was opened, or as a new one. */
export function SaveForm({ sql, place, opened, onSaved, onNewest, onClose }: Props): JSX.Element {
  const own = opened?.isOwn === true ? opened : null;
  const [name, setName] = useState(opened?.name ?? "");
  const [isShared, setShared] = useState(own?.shared ?? false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  // At once: what is typed next belongs to the name.
  useLayoutEffect(() => field.current?.focus(), []);
  const save = (over: SavedQuery | null): void => {
    if (isBusy || name.trim() === "" || sql.trim() === "") {
      return;
    }
    const fields = { name: name.trim(), sql, catalog: place.catalog || null, schema: place.schema || null, shared: isShared };
    setBusy(true);
    setProblem(null);
    (over === null ? saveNew(fields) : saveAgain(over.savedQueryId, over.version, fields)).then(onSaved, (error: unknown) => {
      setBusy(false);
      setProblem(problemIn(error));
    });
  };
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    save(own);
  };
  const hasChanged = problem?.code === "SAVED_QUERY_CHANGED" && own !== null;
  return (
    <form class="save" aria-label="Save this query" onSubmit={submit} onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <label class="choice">
        <span>Name</span>
        <input ref={field} type="text" required maxLength={LONGEST_NAME} spellcheck={false} autocomplete="off" value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label class="choice">
        <input type="checkbox" checked={isShared} onChange={(event) => setShared(event.currentTarget.checked)} />
        <span>Share with everyone who may log in</span>
      </label>
      <span class="row">
        <button type="submit" class="primary" disabled={isBusy || sql.trim() === ""}>{isBusy ? "Saving …" : own === null ? "Save" : "Save changes"}</button>
        {own !== null && <button type="button" disabled={isBusy} onClick={() => save(null)}>Save as new</button>}
        <button type="button" class="quiet" onClick={onClose}>Close</button>
      </span>
      {isShared && <p class="note">Others can read the text, and run it with their own rights. Leave out what is secret.</p>}
      {problem !== null && (
        <ProblemNote problem={problem}>
          {hasChanged && <p><button type="button" class="link" onClick={() => onNewest(own.savedQueryId)}>Open the newest version</button>, or save yours as new.</p>}
        </ProblemNote>
      )}
    </form>
  );
}
