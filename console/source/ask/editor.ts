/** The editor of SQL: CodeMirror in a shadow root, where its styles need no permission of the page's policy. */

import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import { SQLDialect, keywordCompletionSource, sql } from "@codemirror/lang-sql";
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState, Prec, type Text } from "@codemirror/state";
import { EditorView, drawSelection, highlightSpecialChars, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { ProblemError } from "../gateway/answers";
import { type Place, completionOf } from "./completion";
import { formatted } from "./format_sql";
import type { Listing } from "./listing";
import { KEYWORDS, TYPES } from "./spark_words";

export const SPARK = SQLDialect.define({
  keywords: KEYWORDS,
  types: TYPES,
  identifierQuotes: "`",
  doubleQuotedStrings: true,
  slashComments: false,
  hashComments: false,
  operatorChars: "*+-%<>!=&|^~/",
  specialVar: ":",
});

// The colours are the page's variables, which a shadow root inherits, so both themes are one.
const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--keyword)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: [tags.comment], color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.special(tags.name)], color: "var(--type)" },
  { tag: [tags.operator, tags.punctuation], color: "var(--soft)" },
]);

const LOOKS = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--field)", fontSize: "14px", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "12px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--soft)", border: "none", paddingLeft: "6px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--selected)",
  },
  ".cm-matchingBracket": { backgroundColor: "var(--selected)", outline: "1px solid var(--soft)" },
  ".cm-placeholder": { color: "var(--soft)" },
  ".cm-tooltip": {
    backgroundColor: "var(--card)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    overflow: "hidden",
    boxShadow: "0 8px 28px rgb(0 0 0 / .18)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "13px", maxHeight: "17em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 10px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--selected)", color: "var(--ink)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": { color: "var(--soft)", fontStyle: "normal", marginLeft: "1em" },
  ".cm-tooltip.cm-completionInfo": { padding: "6px 10px", maxWidth: "40ch", fontFamily: "system-ui, sans-serif", fontSize: "13px" },
  ".cm-diagnostic": { padding: "6px 10px", maxWidth: "60ch", fontFamily: "system-ui, sans-serif", fontSize: "13px" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad)",
    textUnderlineOffset: "4px",
    backgroundColor: "var(--wrong)",
  },
});

export interface EditorParts {
  listing: Listing;
  place: () => Place;
  onRun: () => void;
  onSave: () => void;
  onChange: (text: string) => void;
}

/** Opens an editor in an element. `destroy` of the result removes it. */
export function openEditor(parent: HTMLElement, text: string, parts: EditorParts): EditorView {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
  const run = (): boolean => {
    parts.onRun();
    return true;
  };
  const save = (): boolean => {
    parts.onSave();
    return true;
  };
  const state = EditorState.create({
    doc: text,
    extensions: [
      Prec.highest(keymap.of([{ key: "Mod-Enter", run }, { key: "Mod-s", run: save }, { key: "Shift-Alt-f", run: formatText }])),
      keymap.of([
        // Otherwise, Tab moves the focus on: nobody who has no mouse may be caught here.
        { key: "Tab", run: acceptCompletion },
        ...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap,
      ]),
      history(), lineNumbers(), drawSelection(), highlightSpecialChars(), bracketMatching(), closeBrackets(),
      sql({ dialect: SPARK }), EditorView.lineWrapping,
      autocompletion({
        icons: false,
        override: [completionOf(parts.listing, parts.place), keywordCompletionSource(SPARK, true)],
      }),
      syntaxHighlighting(COLOURS), LOOKS,
      placeholder("SELECT …"),
      EditorView.contentAttributes.of({ "aria-label": "SQL", tabindex: "0", spellcheck: "false", autocapitalize: "off" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) {
          parts.onChange(update.state.doc.toString());
        }
      }),
    ],
  });
  return new EditorView({ state, parent: root, root });
}

/** Replaces the whole text. Undo takes back this change alone, and not also what was typed just before. */
export function replaceText(editor: EditorView, text: string): void {
  const changes = { from: 0, to: editor.state.doc.length, insert: text };
  editor.dispatch({ changes, annotations: isolateHistory.of("full") });
}

/** Lays out the text: only white space changes, and undo takes it back. */
export function formatText(editor: EditorView): boolean {
  const text = editor.state.doc.toString();
  const found = formatted(text);
  if (found !== text) {
    replaceText(editor, found);
  }
  return true;
}

/** Writes a text in the place of what is selected. */
export function insertText(editor: EditorView, text: string): void {
  editor.dispatch(editor.state.replaceSelection(text));
  editor.focus();
}

/** Marks the places of errors in the text, and moves to the first. Without errors, removes all marks. */
export function markErrors(editor: EditorView, errors: readonly ProblemError[]): void {
  closeCompletion(editor);
  const found = errors.flatMap((error) => diagnosticsOf(editor.state.doc, error));
  editor.dispatch(setDiagnostics(editor.state, found));
  const [first] = found;
  if (first !== undefined) {
    editor.dispatch({ selection: { anchor: first.from }, scrollIntoView: true });
  }
}

function diagnosticsOf(text: Text, error: ProblemError): Diagnostic[] {
  if (error.line === null || error.line === undefined || error.line > text.lines) {
    return [];
  }
  const line = text.line(error.line);
  const from = Math.min(line.to, line.from + Math.max(0, (error.column ?? 1) - 1));
  const word = /^(?:`[^`]*`|[\p{L}\p{N}_.]+|\S)/u.exec(line.text.slice(from - line.from))?.[0] ?? "";
  const to = Math.min(line.to, from + word.length);
  return [{ from: to > from ? from : line.from, to: to > from ? to : line.to, severity: "error", message: error.detail }];
}
