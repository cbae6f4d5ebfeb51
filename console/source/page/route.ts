/** The address of a room: `#/room/id?name=value`. It stays in the browser, so no log has a query's text. */

import { useEffect, useState } from "preact/hooks";

export interface Route {
  room: string;
  id: string;
  values: URLSearchParams;
}

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [room = "", id = ""] = path.split("/");
  return { room, id, values: new URLSearchParams(query) };
}

export function hashOf(room: string, id = "", values: Record<string, string> = {}): string {
  const given = Object.entries(values).filter(([, value]) => value !== "");
  const query = new URLSearchParams(given).toString();
  return `#/${room}${id && `/${encodeURIComponent(id)}`}${query && `?${query}`}`;
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setHash(location.hash);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return routeOf(hash);
}
