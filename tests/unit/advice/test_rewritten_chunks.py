"""Advice knows the size of files after a change, if rows were written in their new order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.advice.advise import advise
from service.advice.coded_layout import coded_layout
from service.advice.predicted_reads import predicted_reads
from service.advice.relayouts import ROWS_OF_A_CHUNK
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.layout_advice import AdviceKind, LayoutAdvice
from service.model.tables.table_layout import FileBounds, LayoutFile
from tests.fakes.gateway import ADVICE_BOUNDS, TABLE, FakeGateway
from tests.fakes.queries import NOON
from tests.fakes.recorded_scans import DAYS, FILES, ROWS_OF_A_FILE, record_scans
from tests.fakes.rewritten_rows import FakeRewrittenRows

ALL = FILES * ROWS_OF_A_FILE
FIRST, SECOND = 5.0, 10.0


@pytest.fixture
def gateway() -> FakeGateway:
    made = FakeGateway()
    record_scans(made)
    return made


def found(gateway: FakeGateway, kind: AdviceKind, rows: FakeRewrittenRows | None) -> LayoutAdvice:
    gateway.layouts.rows = rows
    basis = gateway.layout_advice.basis(TABLE, FULL_ACCESS, None, 0)
    options = replace(ADVICE_BOUNDS.options, min_saved_share=0.01)
    advice = advise(basis.layout, basis.scans, NOON, options, rewritten=basis.rewritten).advice
    return next(one for one in advice if one.kind is kind)


def rows_of(*columns: str) -> FakeRewrittenRows:
    return FakeRewrittenRows(frozenset(columns), FIRST, SECOND)


def test_files_have_the_bytes_of_their_rows_after_the_change(gateway: FakeGateway) -> None:
    unsized = found(gateway, AdviceKind.SORT, None)
    assert not unsized.is_size_predicted
    rows = rows_of("day")
    sized = found(gateway, AdviceKind.SORT, rows)
    assert (sized.is_size_predicted, sized.after.file_count) == (True, unsized.after.file_count)
    # The day that is looked for lies in the second half of the rows. Now each takes 40 bytes.
    assert sized.after.byte_count == pytest.approx(unsized.after.byte_count * SECOND / 40, rel=0.01)
    [order] = {order for order in rows.orders if order.columns == ("day",) and order.transform is None}
    assert order.file_rows == ROWS_OF_A_CHUNK


def test_sizes_that_are_unknown_are_those_of_now(gateway: FakeGateway) -> None:
    unsized = found(gateway, AdviceKind.SORT, None)
    assert found(gateway, AdviceKind.SORT, rows_of()) == unsized
    advice = gateway.layout_advice.advice(TABLE, FULL_ACCESS)
    assert any("not predicted" in note for note in advice.notes)


def test_all_files_have_the_bytes_of_all_rows(gateway: FakeGateway) -> None:
    advice = found(gateway, AdviceKind.SORT, rows_of("day"))
    basis = gateway.layout_advice.basis(TABLE, FULL_ACCESS, None, 0)
    coded = coded_layout(basis.layout, basis.scans, lambda: False, basis.rewritten)
    predicted = predicted_reads(coded, advice)
    assert predicted.whole.byte_count == ALL * (FIRST + SECOND) / 2
    assert coded.sum(predicted.scans) == advice.after


def test_files_that_are_not_put_together_stay_as_they_are(gateway: FakeGateway) -> None:
    layout = gateway.layouts.layouts[TABLE]
    small = LayoutFile(byte_count=40, record_count=1, bounds={"day": FileBounds(0, DAYS - 1)})
    gateway.layouts.layouts[TABLE] = replace(layout, files=[*layout.files, *[small] * 20])
    advice = found(gateway, AdviceKind.COMPACTION, rows_of())
    assert (advice.before.byte_count, advice.before.file_count) == (2 * (FILES * 4_000 + 20 * 40), 2 * 24)
    # Twenty rows of ten bytes, in one new file.
    assert advice.after.byte_count == 2 * (FILES * 4_000 + 20 * SECOND)
