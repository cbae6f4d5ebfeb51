"""Reads statements of several lines from a terminal, with history and completion."""

from __future__ import annotations

from prompt_toolkit import PromptSession
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from sluice_client.cli.command_session import Session
from sluice_client.cli.interactive.completer import SqlCompleter
from sluice_client.cli.interactive.history import history_file, prepared_history
from sluice_client.cli.interactive.known_names import KnownNames
from sluice_client.cli.statements import is_finished

_PROMPT, _MORE = "sluice> ", "     -> "


class Prompt:
    """Asks for one input after the other."""

    def __init__(self, session: Session) -> None:
        self._session: PromptSession[str] = PromptSession(
            history=_history(),
            completer=SqlCompleter(KnownNames(session)),
            complete_in_thread=True,
            complete_while_typing=False,
            multiline=True,
            prompt_continuation=_MORE,
            key_bindings=_keys(),
            editing_mode=EditingMode.EMACS,
            enable_history_search=True,
        )

    def read(self) -> str:
        """Returns the next input.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            EOFError: Ctrl-D on an empty line.
        """
        return self._session.prompt(_PROMPT)


def _keys() -> KeyBindings:
    """Lets Enter end an input that is finished; otherwise, it begins the next line."""
    keys = KeyBindings()

    @Condition
    def is_ready() -> bool:
        from prompt_toolkit.application.current import get_app

        buffer = get_app().current_buffer
        return buffer.complete_state is None and is_finished(buffer.text)

    @keys.add("enter", filter=is_ready)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return keys


def _history() -> History:
    path = prepared_history(history_file())
    return InMemoryHistory() if path is None else FileHistory(str(path))
