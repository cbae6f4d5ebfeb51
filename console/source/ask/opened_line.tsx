import type { JSX } from "preact";
import type { SavedQuery } from "../gateway/saved_answers";

interface Props {
  opened: SavedQuery;
  isEdited: boolean;
  onClose: () => void;
}

/** Which saved query is in the editor, whose it is, and whether the text is another one by now. */
export function OpenedLine({ opened, isEdited, onClose }: Props): JSX.Element {
  return (
    <p class="opened">
      <b>{opened.name}</b>
      <span class="badge">{!opened.isOwn ? `by ${opened.owner}` : opened.shared ? "shared" : "private"}</span>
      <span class="note" role="status">{isEdited ? "edited, not saved" : "saved"}</span>
      <button type="button" class="quiet" onClick={onClose}>Close<span class="hidden"> {opened.name}, and keep its text</span></button>
    </p>
  );
}
