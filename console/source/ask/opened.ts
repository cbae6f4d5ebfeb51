/** Which saved query the editor has after changes, so that no change is saved over that nobody has seen. */

import type { SavedQuery } from "../gateway/saved_answers";

/**
 * Returns what is opened after a query was shared, or was not any more. If another change came before, the version that
 * was read stays, and saving over it is refused.
 */
export function afterSharing(opened: SavedQuery | null, found: SavedQuery): SavedQuery | null {
  const isNext = opened?.savedQueryId === found.savedQueryId && opened.version + 1 === found.version;
  return isNext ? found : opened;
}

/** Returns what is opened after a text was saved, which was `edited` then. If another query is open by now, that one. */
export function afterSaving(opened: SavedQuery | null, edited: SavedQuery | null, found: SavedQuery): SavedQuery | null {
  return opened?.savedQueryId === edited?.savedQueryId ? found : opened;
}
