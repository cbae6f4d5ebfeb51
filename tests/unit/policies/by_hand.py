"""A second reading of the policies' rules, written only to check the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from service.model.policies.actions import Action
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern


@dataclass(frozen=True)
class ByHand:
    """Rules of roles: each is a pattern of tables, and a rule.

    `select` is a grant, `!select` a denial, `rows:region = 'A'` a row filter, and `mask:card=NULL` a mask.
    """

    rules: Mapping[str, tuple[tuple[str, str], ...]]

    def policies(self) -> PolicySet:
        """Returns the rules as policies."""
        grants: list[Grant] = []
        row_filters: list[RowFilter] = []
        masks: list[ColumnMask] = []
        for role, rules in self.rules.items():
            for glob, rule in rules:
                pattern = TablePattern.parse(glob)
                kind, _, sql = rule.partition(":")
                if kind == "rows":
                    row_filters.append(RowFilter(role, pattern, sql))
                elif kind == "mask":
                    masks.append(ColumnMask(role, pattern, *sql.split("=")))
                else:
                    grants.append(Grant(role, Action(rule.lstrip("!")), pattern, rule.startswith("!")))
        return PolicySet(1, tuple(grants), tuple(row_filters), tuple(masks))

    def cell(self, roles: frozenset[str], action: str, table: str) -> str:
        """Returns `refused`, `allowed`, `filtered`, `masked` or `filtered, masked`.

        Dead letters are read by those who see all of the table that they were sent to.
        """
        source = table.lower().removesuffix("__dead_letter")
        if action == "select" and source != table.lower() and self.cell(roles, action, source) != "allowed":
            return "refused"
        found = self._granting(roles, action, table)
        if not found:
            return "refused"
        is_filtered = all(self._has(role, table, "rows:") for role in found)
        is_masked = all(self._has(role, table, "mask:") for role in found)
        return {(False, False): "allowed", (True, False): "filtered", (False, True): "masked"}.get(
            (is_filtered, is_masked), "filtered, masked"
        )

    def is_denied(self, roles: frozenset[str], action: str, table: str) -> bool:
        """Returns whether a denial of a role covers the action."""
        return any(f"!{each}" in self._of(role, table) for role in roles for each in (action, "admin"))

    def administers_all(self, roles: frozenset[str]) -> bool:
        """Returns whether a role may administer all tables, and no role denies it for any."""
        rules = [rule for role in roles for rule in self.rules[role]]
        return ("*.*.*", "admin") in rules and not any(rule == "!admin" for _, rule in rules)

    def _granting(self, roles: frozenset[str], action: str, table: str) -> set[str]:
        """Returns the roles that grant the action; none if one of them denies it."""
        if self.is_denied(roles, action, table):
            return set()
        denied = {rule[1:] for role in roles for rule in self._of(role, table) if rule.startswith("!")}
        grants = ({str(each) for each in Action} if action == "describe" else {action, "admin"}) - denied
        return {role for role in roles if self._of(role, table) & grants}

    def _has(self, role: str, table: str, kind: str) -> bool:
        return any(rule.startswith(kind) for rule in self._of(role, table))

    def _of(self, role: str, table: str) -> set[str]:
        """Returns the rules that cover the table; the middle of its name is the schema."""
        catalog, _, rest = table.lower().partition(".")
        schema, _, name = rest.rpartition(".")
        found = set()
        for glob, rule in self.rules[role]:
            parts = zip(glob.split("."), (catalog, schema, name), strict=True)
            if all(fnmatchcase(part, of_glob) for of_glob, part in parts):
                found.add(rule)
        return found
