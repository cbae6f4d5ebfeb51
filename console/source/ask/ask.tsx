import type { EditorView } from "@codemirror/view";
import type { JSX } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Problem } from "../gateway/answers";
import { problemIn } from "../gateway/requests";
import { type SavedQuery, listSaved, readSaved } from "../gateway/saved_answers";
import { useAnswer } from "../gateway/use_answer";
import { Contained } from "../page/contained";
import { ProblemNote } from "../page/problem_note";
import type { RoomProps } from "../page/rooms";
import { hashOf } from "../page/route";
import type { Place } from "./completion";
import { Controls } from "./controls";
import { formatText, insertText, markErrors, openEditor, replaceText } from "./editor";
import { type Asked, History } from "./history";
import { Listing } from "./listing";
import { afterSaving, afterSharing } from "./opened";
import { OpenedLine } from "./opened_line";
import { Outcome } from "./outcome";
import { ParameterFields } from "./parameter_fields";
import { parametersIn, typedFor, valueOf } from "./parameters";
import { Past } from "./past";
import { PlaceFields } from "./place_fields";
import { type Run, Running } from "./running";
import { SaveForm } from "./save_form";
import { SavedList } from "./saved_list";
import { TableList } from "./table_list";

/** Edits a query, runs it, and shows its rows. The address has the query, so that it can be opened again. */
export function Ask({ login, route }: RoomProps): JSX.Element {
  const listing = useMemo(() => new Listing(), []);
  const history = useMemo(() => new History(login.principal), [login.principal]);
  const [past, setPast] = useState(() => history.all());
  const [sql, setSql] = useState(route.values.get("sql") ?? past[0]?.sql ?? "");
  const [place, setPlace] = useState<Place>(() => placeIn(route.values, past[0]));
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [run, setRun] = useState<Run | null>(null);
  const [sought, setSought] = useState("");
  const saved = useAnswer(() => listSaved(sought), sought);
  const [opened, setOpened] = useState<SavedQuery | null>(null);
  const [isSaving, setSaving] = useState(false);
  const [unopened, setUnopened] = useState<Problem | null>(null);
  const running = useRef<Running | null>(null);
  const editor = useRef<EditorView | null>(null);
  const box = useRef<HTMLDivElement>(null);
  // The editor is made once, and has to see the values of now.
  const now = useRef({ sql, place, typed });
  now.current = { sql, place, typed };

  const changed = useCallback((next: Run) => {
    setRun(next);
    // While it runs, the user may write already.
    if (editor.current !== null && (next.answer === null || next.problem !== null)) {
      markErrors(editor.current, next.problem?.errors ?? []);
    }
  }, []);
  const start = useCallback((takesAll = false) => {
    const { place: chosen, typed: values } = now.current;
    // The editor may have a text that this page is not drawn with yet.
    const text = editor.current?.state.doc.toString() ?? now.current.sql;
    if (text.trim() === "") {
      return;
    }
    running.current?.leave();
    const names = parametersIn(text);
    const parameters = Object.fromEntries(names.map((name) => [name, valueOf(typedFor(values, name))]));
    keepInAddress(hashOf("ask", "", { sql: text, ...chosen }));
    const next = new Running({ sql: text, ...chosen, parameters, takesAll }, changed);
    running.current = next;
    void next.start();
  }, [changed]);

  useEffect(() => {
    if (box.current === null) {
      return undefined;
    }
    const opened = openEditor(box.current, now.current.sql, {
      listing,
      place: () => now.current.place,
      onRun: () => start(),
      onSave: () => setSaving(true),
      onChange: setSql,
    });
    editor.current = opened;
    opened.focus();
    return () => {
      running.current?.leave();
      opened.destroy();
    };
  }, [listing, start]);
  useEffect(() => {
    const wanted = route.values.get("sql");
    if (wanted !== null && wanted !== now.current.sql && editor.current !== null) {
      replaceText(editor.current, wanted);
      setPlace(placeIn(route.values, undefined));
    }
  }, [route.values.toString()]);

  const isRunning = run !== null && running.current?.isOver === false;
  useEffect(() => {
    const ended = run === null || isRunning ? null : askedOf(run);
    if (ended !== null) {
      history.add(ended);
      setPast(history.all());
    }
  }, [isRunning, run?.answer?.queryId]);

  const pick = (asked: Asked): void => {
    setOpened(null);
    if (editor.current !== null) {
      replaceText(editor.current, asked.sql);
      editor.current.focus();
    }
    setPlace({ catalog: asked.catalog, schema: asked.schema });
    scrollTo({ top: 0 });
  };
  const show = (text: string): void => {
    if (editor.current !== null) {
      replaceText(editor.current, text);
      start();
    }
  };
  // Only what was asked for last is opened, and nothing after this room was left.
  const turn = useRef(0);
  useEffect(() => () => { turn.current += 1; }, []);
  const open = useCallback((savedQueryId: string): void => {
    turn.current += 1;
    const own = turn.current;
    readSaved(savedQueryId).then(
      (found) => {
        if (own !== turn.current) {
          return;
        }
        setOpened(found);
        setUnopened(null);
        setSaving(false);
        setPlace({ catalog: found.catalog ?? "", schema: found.schema ?? "" });
        if (editor.current !== null) {
          replaceText(editor.current, found.sql);
          editor.current.focus();
        }
        keepInAddress(hashOf("ask", "", { saved: savedQueryId }));
        scrollTo({ top: 0 });
      },
      (error: unknown) => own === turn.current && setUnopened(problemIn(error)),
    );
  }, []);
  const wantedId = route.values.get("saved");
  useEffect(() => {
    if (wantedId !== null) {
      open(wantedId);
    }
  }, [wantedId, open]);
  const stopSaving = (): void => {
    setSaving(false);
    editor.current?.focus();
  };
  const changedSaved = (found: SavedQuery): void => {
    setOpened((before) => afterSharing(before, found));
    saved.again();
  };
  const format = (): void => {
    if (editor.current !== null) {
      formatText(editor.current);
      editor.current.focus();
    }
  };
  const insert = (name: string): void => {
    if (editor.current !== null) {
      insertText(editor.current, name);
    }
  };
  const names = parametersIn(sql);
  return (
    <div class="ask">
      <h1 class="hidden">Ask</h1>
      <div class="desk">
        <section class="question" aria-label="Query">
        {opened !== null && <OpenedLine opened={opened} isEdited={isEdited(opened, sql, place)} onClose={() => setOpened(null)} />}
        <div class="editor" ref={box} />
        {names.length > 0 && <ParameterFields names={names} typed={typed} onChange={setTyped} />}
        <Controls
          isRunning={isRunning}
          isEmpty={sql.trim() === ""}
          isSaving={isSaving}
          queryId={isRunning ? (run?.answer?.queryId ?? null) : null}
          onRun={() => start()}
          onCancel={() => void running.current?.cancel()}
          onFormat={format}
          onSave={() => setSaving(true)}
        >
          <PlaceFields listing={listing} place={place} onChange={setPlace} />
        </Controls>
        {isSaving && (
          <SaveForm
            key={`${opened?.savedQueryId} ${opened?.shared}`}
            sql={sql}
            place={place}
            opened={opened}
            onSaved={(found) => {
              setOpened((before) => afterSaving(before, opened, found));
              saved.again();
              stopSaving();
            }}
            onNewest={open}
            onClose={stopSaving}
          />
        )}
      </section>
      {run !== null && (
        <Contained name="Result" subject={`${run.answer?.queryId} ${run.startedAt}`}>
          <Outcome run={run} isRunning={isRunning} running={running.current} onTakeAll={() => start(true)} />
        </Contained>
      )}
      {unopened !== null && <ProblemNote problem={unopened} />}
      <Contained name="Saved queries">
      <SavedList
        answer={saved}
        sought={sought}
        openedId={opened?.savedQueryId ?? null}
        onSeek={setSought}
        onOpen={open}
        onChanged={changedSaved}
        onRemoved={(savedQueryId) => {
          setOpened((before) => (before?.savedQueryId === savedQueryId ? null : before));
          saved.again();
        }}
      />
      </Contained>
      <Contained name="History"><Past all={past} onPick={pick} /></Contained>
      </div>
      <aside>
        <Contained name="Tables" subject={`${place.catalog} ${place.schema}`}>
          <TableList listing={listing} place={place} onShow={show} onInsert={insert} />
        </Contained>
      </aside>
    </div>
  );
}

function placeIn(values: URLSearchParams, last: Asked | undefined): Place {
  if (values.has("sql")) {
    return { catalog: values.get("catalog") ?? "", schema: values.get("schema") ?? "" };
  }
  return { catalog: last?.catalog ?? "", schema: last?.schema ?? "" };
}

function askedOf(run: Run): Asked | null {
  const { answer, problem, question, startedAt } = run;
  return {
    sql: question.sql,
    catalog: question.catalog,
    schema: question.schema,
    at: startedAt,
    queryId: answer?.queryId ?? "",
    state: problem === null ? (answer?.status.state ?? "FAILED") : "FAILED",
    elapsedMs: answer?.status.elapsedMs ?? Date.now() - startedAt,
    rowCount: answer?.manifest?.totalRowCount ?? null,
  };
}

function isEdited(opened: SavedQuery, sql: string, place: Place): boolean {
  return opened.sql !== sql || (opened.catalog ?? "") !== place.catalog || (opened.schema ?? "") !== place.schema;
}

function keepInAddress(hash: string): void {
  window.history.replaceState(null, "", hash);
}
