"""The lines in which queries wait: by group, and in each group by class."""

from __future__ import annotations

from service.query.admission.group_node import K, Stage, Ticket


def join_unplanned(ticket: Ticket[K]) -> None:
    """Lets the query wait to be planned."""
    ticket.stage = Stage.UNPLANNED
    ticket.leaf.unplanned[ticket.number] = ticket
    for node in ticket.leaf.upward():
        node.unplanned_count += 1


def leave_unplanned(ticket: Ticket[K]) -> None:
    """Ends that wait."""
    del ticket.leaf.unplanned[ticket.number]
    for node in ticket.leaf.upward():
        node.unplanned_count -= 1


def join_line(ticket: Ticket[K]) -> None:
    """Lets the planned query wait for its turn, in the order in which queries came."""
    of, line = ticket.query_class, ticket.leaf.lines[ticket.query_class]
    is_last = not line or next(reversed(line)) < ticket.number
    line[ticket.number] = ticket
    if not is_last:
        ticket.leaf.lines[of] = dict(sorted(line.items()))
    ticket.stage = Stage.WAITING
    ticket.leaf.planned_ahead += ticket.is_planned
    for node in ticket.leaf.upward():
        node.waiting[of] += 1
        if node.parent is not None:
            node.parent.contending[of].setdefault(node)


def leave_line(ticket: Ticket[K]) -> None:
    """Ends that wait."""
    of = ticket.query_class
    del ticket.leaf.lines[of][ticket.number]
    ticket.leaf.planned_ahead -= ticket.is_planned
    for node in ticket.leaf.upward():
        node.waiting[of] -= 1
        if node.parent is not None and not node.waiting[of]:
            del node.parent.contending[of][node]
            node.shares[of].leave()
