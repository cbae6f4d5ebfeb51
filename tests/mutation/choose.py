"""`python -m tests.mutation.choose SEED COUNT PACKAGE`: prints mutants of a package, one a line, as JSON.

It runs in the Python of `.venv/mutate`, which has cosmic-ray and no package of the gateway. It draws a place
first, and then one of its operators: a `+` has eleven, an `and` has one.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from parso import parse
from parso.tree import NodeOrLeaf

from tests.mutation.left_out import Position, left_out
from tests.mutation.mutant import Mutant

SAME_FOR_ENUMS = ("_Is_Eq", "_IsNot_NotEq", "_Eq_Is", "_NotEq_IsNot")
"""Identity and equality agree for None, members of enums, and small numbers."""


class Negate:
    """Negates `in`, and the `if` of a comprehension, which none of cosmic-ray's operators does."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[tuple[Position, Position]]:
        """Yields the place of the condition, if this is one."""
        if node.type == "comp_if":
            yield node.children[1].start_pos, node.children[1].end_pos
        elif node.type == "comparison" and node.children[1].get_code().split()[-1] == "in":
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, _index: int) -> NodeOrLeaf:
        """Returns the negated node."""
        if node.type == "comp_if":
            node.children[1] = self.mutate(node.children[1], 0)
            return node
        return parse(f" not ({node.get_code().strip()})")


def mutants(package: str, random: Random) -> Iterator[Mutant]:
    """Yields mutants of a package's modules in random order, at most one for each place, no two alike."""
    classes = {name.partition("/")[2]: get_operator(name) for name in operator_names()}
    operators = {name: made() for name, made in classes.items() if not made.arguments()} | {
        "Negate": Negate()
    }
    operators = {name: operator for name, operator in operators.items() if not name.endswith(SAME_FOR_ENUMS)}
    sources = {str(path): path.read_text("utf-8") for path in sorted(Path(package).rglob("*.py"))}
    places = [(path, *place) for path, source in sources.items() for place in _places(source, operators)]
    seen = {"", *map(_program, sources.values())}
    random.shuffle(places)
    for path, (line, _), changes in places:
        random.shuffle(changes)
        for name, occurrence in changes:
            code = mutate_code(sources[path], operators[name], occurrence)
            if (program := _program(code)) not in seen:
                seen.add(program)
                yield Mutant(path, line, name, code)
                break


def _places(source: str, operators: dict[str, Any]) -> list[tuple[Position, list[tuple[str, int]]]]:
    """Returns each place of a module with the operators that change it, and their occurrences."""
    spans, nodes = left_out(source), list(ast_nodes(get_ast(source)))
    places: dict[Position, list[tuple[str, int]]] = defaultdict(list)
    for name, operator in operators.items():
        starts = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, start in enumerate(starts):
            if not any(first <= start < end for first, end in spans):
                places[start].append((name, occurrence))
    return sorted(places.items())


def _program(code: str) -> str:
    """Returns the syntax tree, which two spellings of a program share; empty if the code is invalid."""
    try:
        return ast.dump(ast.parse(code))
    except SyntaxError:
        return ""


if __name__ == "__main__":
    seed, count, package = sys.argv[1:]
    for mutant in islice(mutants(package, Random(f"{seed} {package}")), int(count)):
        sys.stdout.write(json.dumps(mutant) + "\n")
