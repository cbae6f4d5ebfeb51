import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Problem } from "../../gateway/answers";
import type { Ingest } from "../../gateway/ingest_answers";
import { RequestIds } from "../../gateway/request_ids";
import { problemIn, refusal, sendRecords } from "../../gateway/requests";
import { ProblemNote } from "../../page/problem_note";
import { hashOf } from "../../page/route";
import { counted } from "../../words/numbers";
import { stateClass } from "../ingest_words";
import { Unreadable } from "./csv_text";

interface Props {
  /** The fields of the request. */
  asked: Readonly<Record<string, string>>;
  /** What else makes this request another one than an earlier one, such as the mapping of its fields. */
  subject: unknown;
  type: string;
  faults: readonly string[];
  /** Makes the body. */
  content: () => Promise<Blob>;
  /** Rejects if the request must not be sent now. `isRepeated`: one for the same table was sent before. */
  check?: (isRepeated: boolean) => Promise<void>;
  /** More choices. */
  children?: ComponentChildren;
}

/** Sends the records of a file, once, and says what became of them. */
export function SendFile({ asked, subject, type, faults, content, check, children }: Props): JSX.Element {
  const [onError, setOnError] = useState("REJECT_REQUEST");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [ingest, setIngest] = useState<Ingest | null>(null);
  const [isBusy, setBusy] = useState(false);
  // What was sent before under an id is not written twice.
  const ids = useMemo(() => new RequestIds(), []);
  const sent = useRef(new Set<string>());
  const request = { ...asked, onError };
  const what = JSON.stringify([request, subject]);
  useEffect(() => {
    setIngest(null);
    setProblem(null);
  }, [what]);
  const commit = async (): Promise<void> => {
    const requestId = ids.of([request, subject]);
    const target = JSON.stringify(asked);
    setBusy(true);
    setProblem(null);
    try {
      await check?.(sent.current.has(target));
      const records = await content();
      sent.current.add(target);
      setIngest(await sendRecords<Ingest>(`/ingest?${new URLSearchParams({ ...request, requestId })}`, records, type));
    } catch (error) {
      setProblem(problemIn(error instanceof Unreadable ? refusal("FILE_UNREADABLE", error.message) : error));
    }
    setBusy(false);
  };
  return (
    <>
      {faults.length > 0 && <ul class="faults" role="status">{faults.map((fault) => <li class="error">{fault}</li>)}</ul>}
      {children}
      <p class="row">
        <label class="choice"><span>Records that do not fit</span>
          <select value={onError} disabled={isBusy} onChange={(event) => setOnError(event.currentTarget.value)}>
            <option value="REJECT_REQUEST">refuse the file</option>
            <option value="DEAD_LETTER">go to the dead letters</option>
          </select>
        </label>
        <button type="button" class="primary" disabled={isBusy || faults.length > 0 || ingest !== null} onClick={() => void commit()}>{isBusy ? "Sending …" : "Commit"}</button>
      </p>
      {ingest !== null && <Sent ingest={ingest} />}
      {problem !== null && (
        <ProblemNote problem={problem}>
          {problem.evolutions?.some(({ created }) => created) === true && (
            <p class="note">The table was made all the same, with these columns. Change the file or the choice for records that do not fit; or, for other columns, choose another name.</p>
          )}
        </ProblemNote>
      )}
    </>
  );
}

function Sent({ ingest }: { ingest: Ingest }): JSX.Element {
  const records = ingest.commits.reduce((sum, commit) => sum + commit.addedRecords, 0);
  return (
    <p role="status" class="row">
      <span class={`state ${stateClass(ingest.state)}`}>{ingest.state.toLowerCase()}</span>
      <span>{counted(records - ingest.rejected.count, "record")}{ingest.rejected.count > 0 && `, and ${counted(ingest.rejected.count, "rejected record")}`}</span>
      <a href={hashOf("ingest", ingest.ingestId)}>Look at the ingest</a>
    </p>
  );
}
