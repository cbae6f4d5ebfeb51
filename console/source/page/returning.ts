/** Where a user was before an issuer's page took the place of this one. The text of a query stays in this tab. */

const PLACE = "sluice.back";
// The gateway leads a browser here after a login. No link does, so an old place is never opened.
const BACK = "#/back";

/** Keeps the room that is open. */
export function keepPlace(): void {
  try {
    sessionStorage.setItem(PLACE, location.hash);
  } catch {
    // The browser keeps nothing: the user comes back to the first room.
  }
}

/** Opens the room that was open before the login, if this page is opened by one. */
export function returnToPlace(): void {
  let kept: string | null = null;
  try {
    kept = sessionStorage.getItem(PLACE);
    sessionStorage.removeItem(PLACE);
  } catch {
    // As above.
  }
  if (location.hash === BACK) {
    history.replaceState(null, "", placeOf(kept));
  }
}

/** Returns the fragment to open. Only rooms of this page are places. */
export function placeOf(kept: string | null): string {
  return kept !== null && kept.startsWith("#/") && kept !== BACK ? kept : "#/ask";
}

/** Whether a page of an issuer may take the place of this one: an address without a script. */
export function isPage(address: string): boolean {
  try {
    return ["https:", "http:"].includes(new URL(address).protocol);
  } catch {
    return false;
  }
}
