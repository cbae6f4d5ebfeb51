"""The lines in which queries wait: by group, and in each group by class."""

from __future__ import annotations

from service.model.query.priority import FIRST_TO_LAST
from service.query.admission.group_node import K, Stage, Ticket


def join_unplanned(ticket: Ticket[K]) -> None:
    """Lets the query wait to be planned."""
    ticket.stage = Stage.UNPLANNED
    ticket.leaf.unplanned[ticket.number] = ticket
    _order_own(ticket, ticket.leaf.unplanned)
    for node in ticket.leaf.upward():
        node.unplanned_count += 1


def leave_unplanned(ticket: Ticket[K]) -> None:
    """Ends that wait."""
    del ticket.leaf.unplanned[ticket.number]
    for node in ticket.leaf.upward():
        node.unplanned_count -= 1


def join_line(ticket: Ticket[K]) -> None:
    """Lets the planned query wait for its turn, in the order in which queries came.

    Those of one caller go by their priorities, in the places that they have together.
    """
    of, line = ticket.query_class, ticket.leaf.lines[ticket.query_class]
    is_last = not line or next(reversed(line)) < ticket.number
    line[ticket.number] = ticket
    if not is_last:
        line = ticket.leaf.lines[of] = dict(sorted(line.items()))
    _order_own(ticket, line)
    ticket.stage = Stage.WAITING
    ticket.leaf.planned_ahead[ticket.priority] += ticket.is_planned
    for node in ticket.leaf.upward():
        node.waiting[of] += 1
        if node.parent is not None:
            node.parent.contending[of].setdefault(node)


def leave_line(ticket: Ticket[K]) -> None:
    """Ends that wait."""
    of = ticket.query_class
    del ticket.leaf.lines[of][ticket.number]
    ticket.leaf.planned_ahead[ticket.priority] -= ticket.is_planned
    for node in ticket.leaf.upward():
        node.waiting[of] -= 1
        if node.parent is not None and not node.waiting[of]:
            del node.parent.contending[of][node]
            node.shares[of].leave()


def _order_own(joined: Ticket[K], line: dict[int, Ticket[K]]) -> None:
    """Lets the queries of one caller in a line exchange their places, so that they go by priority."""
    if not joined.leaf.prioritized:
        return
    own = [ticket for ticket in line.values() if ticket.caller == joined.caller]
    places = [ticket.number for ticket in own]
    own.sort(key=lambda ticket: (FIRST_TO_LAST.index(ticket.priority), ticket.came))
    for place, ticket in zip(places, own, strict=True):
        ticket.number = place
        line[place] = ticket
