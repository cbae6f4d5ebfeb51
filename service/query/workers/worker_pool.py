"""Threads that can be given up: a hanging task keeps its thread, and another thread takes its place."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from service.errors.unavailable import ShuttingDown


class WorkerPool:
    """Runs submitted tasks in order, `count` at a time. Any thread may call any method.

    Each worker that was given up is replaced until it returns, by at most `count` more: tasks that hang for
    ever take a bounded number of threads.
    """

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._changed = threading.Condition()
        self._tasks: deque[Callable[[], None]] = deque()
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._given_up = 0
        self._is_closed = False

    @property
    def given_up(self) -> int:
        """How many workers were given up and have not returned."""
        return self._given_up

    @property
    def is_exhausted(self) -> bool:
        """Whether every worker was given up, and every replacement too."""
        return self._given_up >= 2 * self._count

    def submit(self, task: Callable[[], None]) -> None:
        """Runs the task on the next free worker; the task must not raise.

        Raises:
            ShuttingDown: the workers take no more tasks.
        """
        with self._changed:
            if self._is_closed:
                raise ShuttingDown
            self._tasks.append(task)
            if len(self._tasks) > self._idle and len(self._threads) < self._wanted():
                # A daemon, since a call that hangs must not keep the process from ending.
                thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._threads.add(thread)
                thread.start()
            self._changed.notify()

    def give_up(self) -> None:
        """Counts one worker that hangs."""
        with self._changed:
            self._given_up += 1

    def take_back(self) -> None:
        """Counts one less: its task has ended after all."""
        with self._changed:
            self._given_up -= 1

    def close(self) -> None:
        """Accepts no more tasks; waiting tasks still run."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _wanted(self) -> int:
        return self._count + min(self._given_up, self._count)

    def _work(self) -> None:
        while (task := self._next()) is not None:
            task()

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._tasks or self._is_closed or self._is_surplus())
            self._idle -= 1
            if self._tasks and not self._is_surplus():
                return self._tasks.popleft()
            self._threads.discard(threading.current_thread())
            # The notification of a task may have reached this leaving worker.
            self._changed.notify()
            return None

    def _is_surplus(self) -> bool:
        return len(self._threads) > self._wanted()
