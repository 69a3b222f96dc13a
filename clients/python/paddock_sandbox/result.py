"""The result of a command."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from ._http import Command
from .errors import CommandError
from .messages import ExecResponse


@dataclasses.dataclass(frozen=True)
class CommandResult(ExecResponse):
    """What a command did. An exit code other than 0 is a result, not an error.

    Attributes:
        command: The command, as it was asked for.

    All others are those of `ExecResponse`; `output` is both streams: as they were written with `merge`, otherwise
    stdout and then stderr.
    """

    command: str = ""

    @property
    def ok(self) -> bool:
        """Whether the command ended with exit code 0."""
        return self.exit_code == 0 and not self.running

    @property
    def duration(self) -> timedelta:
        """Run time."""
        return timedelta(milliseconds=self.duration_ms)

    def check(self) -> "CommandResult":
        """Returns the result itself; raises `CommandError` for an exit code other than 0."""
        if self.exit_code != 0:
            raise CommandError(self)
        return self


def result_of(answer: ExecResponse, command: Command) -> CommandResult:
    """The result of an answer. `output` is filled also without `merge`."""
    fields = {each.name: getattr(answer, each.name) for each in dataclasses.fields(answer)}
    fields["output"] = answer.output or answer.stdout + answer.stderr
    return CommandResult(**fields, command=text_of(command))


def text_of(command: Command) -> str:
    """The command in one text, to show it."""
    return command if isinstance(command, str) else " ".join(command)
