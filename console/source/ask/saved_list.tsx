import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type SavedLists, type SavedQuery, removeSaved, shareSaved } from "../gateway/saved_answers";
import type { Answer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { SureButton } from "../page/sure_button";
import { clock } from "../words/numbers";

const SOUGHT_AFTER_MS = 300;
// Fewer are seen at once.
const WORTH_SEARCHING = 8;

interface Props {
  answer: Answer<SavedLists>;
  sought: string;
  openedId: string | null;
  onSeek: (name: string) => void;
  onOpen: (savedQueryId: string) => void;
  onChanged: (saved: SavedQuery) => void;
  onRemoved: (savedQueryId: string) => void;
}

/** Saved queries: the caller's own, and those that others share. */
export function SavedList({ answer, sought, onSeek, ...acts }: Props): JSX.Element {
  const [typed, setTyped] = useState(sought);
  useEffect(() => {
    const timer = setTimeout(() => onSeek(typed), SOUGHT_AFTER_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const { value } = answer;
  const isLong = sought !== "" || typed !== "" || (value !== null && (value.hasMore || value.own.length + value.others.length > WORTH_SEARCHING));
  return (
    <section class="past saved" aria-labelledby="saved-title">
      <h2 id="saved-title">Saved queries</h2>
      {isLong && <input type="search" aria-label="Find a saved query" placeholder="Find by name" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />}
      <Answered answer={answer}>
        {(lists) => (
          <>
            {lists.own.length + lists.others.length === 0 && (
              <p class="none">{sought === "" ? "Save a query to find it here, in any browser." : "No saved query has this in its name."}</p>
            )}
            <Entries title="Yours" all={lists.own} {...acts} />
            <Entries title="Shared by others" all={lists.others} {...acts} />
            {lists.hasMore && <p class="note">There are more: find them by their names.</p>}
          </>
        )}
      </Answered>
    </section>
  );
}

interface EntriesProps extends Pick<Props, "openedId" | "onOpen" | "onChanged" | "onRemoved"> {
  title: string;
  all: readonly SavedQuery[];
}

function Entries({ title, all, ...acts }: EntriesProps): JSX.Element | null {
  return all.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <ul aria-label={title}>{all.map((saved) => <li key={saved.savedQueryId}><Entry saved={saved} {...acts} /></li>)}</ul>
    </>
  );
}

interface EntryProps extends Omit<EntriesProps, "title" | "all"> {
  saved: SavedQuery;
}

function Entry({ saved, openedId, onOpen, onChanged, onRemoved }: EntryProps): JSX.Element {
  const { savedQueryId, name, owner, isOwn, shared, sql, changedAt } = saved;
  return (
    <>
      <button type="button" class="saved-name" aria-current={savedQueryId === openedId ? "true" : undefined} title={sql} onClick={() => onOpen(savedQueryId)}>
        {name}
      </button>
      <div class="soft">
        {isOwn ? <span class="badge">{shared ? "shared" : "private"}</span> : <span>by {owner}</span>}
        <span>{clock(changedAt)}</span>
        {isOwn && (
          <>
            <SureButton key={String(shared)} name={shared ? "Stop sharing" : "Share"} what={name} act={() => shareSaved(savedQueryId, !shared).then(onChanged)} onDone={() => undefined} />
            <SureButton name="Delete" what={name} act={() => removeSaved(savedQueryId)} onDone={() => onRemoved(savedQueryId)} />
          </>
        )}
      </div>
    </>
  );
}
