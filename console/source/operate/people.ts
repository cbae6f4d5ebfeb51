/** Who has keys, and the roles that come with them. */

import type { Key } from "../gateway/admin_answers";

export interface Person {
  name: string;
  /** As the field of roles has them. */
  roles: string;
}

/** Returns each principal with a key that counts, by name, with the roles of all of its keys. */
export function peopleOf(keys: readonly Pick<Key, "principal" | "roles" | "revokedAt" | "expiresAt">[], now: number): Person[] {
  const roles = new Map<string, Set<string>>();
  for (const { principal, roles: own, revokedAt, expiresAt } of keys) {
    if (revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > now)) {
      const known = roles.get(principal) ?? new Set();
      own.forEach((role) => known.add(role));
      roles.set(principal, known);
    }
  }
  return [...roles]
    .map(([name, known]) => ({ name, roles: [...known].sort().join(", ") }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}
