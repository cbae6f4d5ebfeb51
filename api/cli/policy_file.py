"""Policies in YAML files: every error names its line and its path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from pydantic import ValidationError

from api.bootstrap.spelling import words_of
from api.http.schemas.administration.policy_documents import PoliciesBody
from service.errors.gateway_error import CannotStart

MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 20
MAX_FAULTS = 20

_ENDS_OF_LINES = "\r\x85\u2028\u2029"


class PolicyFileInvalid(CannotStart):
    """The file with policies is not valid."""


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A file's policies, and the line of each place in it. Places are JSON pointers."""

    name: str
    body: PoliciesBody
    lines: dict[str, int] = field(repr=False)

    def line(self, place: str) -> int:
        """Returns the line of a place, or of the nearest place above it."""
        return _line(self.lines, place)


def read_policy_file(name: str, content: bytes) -> PolicyFile:
    """Reads policies.

    Raises:
        PolicyFileInvalid: it is too large, not YAML, or not a document of policies.
    """
    if len(content) > MAX_FILE_BYTES:
        raise PolicyFileInvalid(f"{name} has more than {MAX_FILE_BYTES} bytes.")
    try:
        text = content.decode("utf-8-sig")
        _check_events(name, text)
        lines: dict[str, int] = {}
        # The safe loader knows no Python types.
        value = _Reader(name, lines).read(yaml.compose(text, yaml.SafeLoader), "")
    except UnicodeDecodeError:
        raise PolicyFileInvalid(f"{name} is not UTF-8.") from None
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise PolicyFileInvalid(f"{name}:{line}: it is not YAML: {error.problem or error.context}.") from None
    except yaml.YAMLError:
        raise PolicyFileInvalid(f"{name} has characters that YAML does not have.") from None
    try:
        return PolicyFile(name, PoliciesBody.model_validate(value), lines)
    except ValidationError as error:
        raise PolicyFileInvalid("\n".join(_faults(name, lines, error))) from None


def yaml_of(document: dict[str, object]) -> str:
    """Returns a document of policies as YAML, which `read_policy_file` reads as the same policies."""
    text: str = yaml.dump(document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)
    return text


class _Dumper(yaml.SafeDumper):
    """YAML takes some characters for ends of lines, and reads them as spaces: they are escaped."""


def _written(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = '"' if any(character in text for character in _ENDS_OF_LINES) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _written)


def _check_events(name: str, text: str) -> None:
    """Refuses aliases, which could make a small file a huge document, and deep nesting."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        line = 1 if event.start_mark is None else event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise PolicyFileInvalid(f"{name}:{line}: aliases are not accepted: write the value out.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise PolicyFileInvalid(f"{name}:{line}: it is nested too deeply.")


class _Reader:
    """Builds the value of a node, and notes the line of each place."""

    def __init__(self, name: str, lines: dict[str, int]) -> None:
        self._name = name
        self._lines = lines
        self._scalars = yaml.SafeLoader("")

    def read(self, node: yaml.Node | None, place: str) -> Any:
        if node is None:
            return None
        self._lines[place] = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            return dict(self._entries(node, place))
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, f"{place}/{number}") for number, item in enumerate(node.value)]
        try:
            return self._scalars.construct_object(node)
        except ValueError:
            raise PolicyFileInvalid(f"{self._name}:{self._lines[place]}: {place}: it is no value.") from None

    def _entries(self, node: yaml.MappingNode, place: str) -> Iterator[tuple[str, Any]]:
        known: set[str] = set()
        for key_node, value_node in node.value:
            key = self.read(key_node, place) if isinstance(key_node, yaml.ScalarNode) else None
            line = key_node.start_mark.line + 1
            if not isinstance(key, str):
                raise PolicyFileInvalid(
                    f"{self._name}:{line}: {place or '/'}: a name here is not a text: put it in quotes."
                )
            if key in known:
                raise PolicyFileInvalid(f"{self._name}:{line}: {_below(place, key)}: it is there twice.")
            known.add(key)
            yield key, self.read(value_node, _below(place, key))
            # The line of the name says more than that of a value below it.
            self._lines[_below(place, key)] = line


def _below(place: str, step: str | int) -> str:
    return f"{place}/{str(step).replace('~', '~0').replace('/', '~1')}"


def _line(lines: dict[str, int], place: str) -> int:
    while place and place not in lines:
        place = place.rpartition("/")[0]
    return lines.get(place, 1)


def _faults(name: str, lines: dict[str, int], error: ValidationError) -> Iterator[str]:
    found = error.errors(include_input=False, include_url=False, include_context=False)
    for fault in found[:MAX_FAULTS]:
        place = _place(fault["loc"])
        yield f"{name}:{_line(lines, place)}: {place or '/'}: {words_of(fault)}"
    if len(found) > MAX_FAULTS:
        yield f"{name}: {len(found) - MAX_FAULTS} more faults."


def _place(steps: Sequence[int | str]) -> str:
    place = ""
    for step in steps:
        # Pydantic's mark of a key that is not valid.
        if step != "[key]":
            place = _below(place, step)
    return place
