"""The predicted reads of single scans add up to those of the advice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.advice.advise import advise
from service.advice.coded_layout import coded_layout
from service.advice.predicted_reads import predicted_reads
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.layout_advice import AdviceKind
from service.model.tables.table_layout import FileBounds, LayoutFile, TableLayout
from tests.fakes.gateway import ADVICE_BOUNDS, TABLE, FakeGateway
from tests.fakes.queries import NOON
from tests.fakes.recorded_scans import record_scans

SOME_OPTIONS = replace(ADVICE_BOUNDS.options, min_saved_share=0.01)


def found_layout(gateway: FakeGateway, kind: AdviceKind) -> TableLayout:
    """Returns a layout for whose scans there is advice of this kind."""
    layout = gateway.layouts.layouts[TABLE]
    if kind is AdviceKind.COMPACTION:
        small = LayoutFile(byte_count=40, record_count=1, bounds={"day": FileBounds(30, 32)})
        return replace(layout, files=[*layout.files, *[small] * 20])
    if kind is AdviceKind.FILE_SIZE:
        days = sorted(layout.sample.columns["day"], key=lambda day: (day is None, day))
        return replace(layout, sample=replace(layout.sample, columns={"day": days}))
    if kind is AdviceKind.BLOOM_FILTER:
        files = [replace(file, record_count=40, row_group_count=100) for file in layout.files]
        days = [*range(40)] * 10
        return replace(layout, files=files, sample=replace(layout.sample, columns={"day": days}))
    return layout


@pytest.mark.parametrize("kind", AdviceKind, ids=[kind.value for kind in AdviceKind])
def test_the_parts_are_the_whole(kind: AdviceKind) -> None:
    gateway = FakeGateway()
    record_scans(gateway)
    gateway.layouts.layouts[TABLE] = found_layout(gateway, kind)
    basis = gateway.layout_advice.basis(TABLE, FULL_ACCESS, None, 0)
    found = advise(basis.layout, basis.scans, NOON, SOME_OPTIONS)
    [advice] = [advice for advice in found.advice if advice.kind is kind]
    coded = coded_layout(basis.layout, basis.scans, lambda: False)
    assert coded.sum(predicted_reads(coded, advice).scans) == advice.after
