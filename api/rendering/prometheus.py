"""Numbers in Prometheus' text format.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from service.model.meters import MeterFamily, Sample

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def render_prometheus(families: Sequence[MeterFamily]) -> str:
    r"""One line a sample, after what its family means and is.

    >>> from service.model.meters import MeterKind
    >>> family = MeterFamily("a_total", "All.", MeterKind.COUNTER, [Sample(1, {"b": 'c"'})])
    >>> print(render_prometheus([family]), end="")
    # HELP a_total All.
    # TYPE a_total counter
    a_total{b="c\""} 1
    """
    return "".join(f"{line}\n" for family in families for line in _lines(family))


def _lines(family: MeterFamily) -> Iterator[str]:
    yield f"# HELP {family.name} {family.meaning}"
    yield f"# TYPE {family.name} {family.kind.value}"
    for sample in family.samples:
        yield f"{family.name}{sample.suffix}{_labels(sample.labels)} {_number(sample)}"


def _labels(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _number(sample: Sample) -> str:
    return repr(sample.value)
