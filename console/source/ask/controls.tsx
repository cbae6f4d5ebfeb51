import type { ComponentChildren, JSX } from "preact";
import { hashOf } from "../page/route";

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const MODIFIER = IS_MAC ? "⌘" : "Ctrl";

interface Props {
  isRunning: boolean;
  isEmpty: boolean;
  isSaving: boolean;
  /** The query that runs; null: none does, or its id is not known yet. */
  queryId: string | null;
  onRun: () => void;
  onCancel: () => void;
  onFormat: () => void;
  onSave: () => void;
  /** The fields between the buttons. */
  children: ComponentChildren;
}

/** The buttons below the editor. */
export function Controls({ isRunning, isEmpty, isSaving, queryId, onRun, onCancel, onFormat, onSave, children }: Props): JSX.Element {
  return (
    <div class="controls">
      {isRunning ? (
        <button type="button" class="primary stop" onClick={onCancel}>Cancel</button>
      ) : (
        <button type="button" class="primary" onClick={onRun} disabled={isEmpty}>Run <kbd>{MODIFIER} ↵</kbd></button>
      )}
      {children}
      {queryId !== null && <a class="button" href={hashOf("explain", queryId)}>Explain</a>}
      <button type="button" class="format-button" title="Shift+Alt+F in the text" onClick={onFormat} disabled={isEmpty}>Format</button>
      {!isSaving && <button type="button" class="save-button" title={`${MODIFIER}+S in the text`} onClick={onSave} disabled={isEmpty}>Save …</button>}
    </div>
  );
}
