"""The result of a command."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from .errors import CommandError
from .messages import ExecResponse


@dataclasses.dataclass(frozen=True)
class ExecResult(ExecResponse):
    """What a command did. An exit code other than 0 is a result, not an error.

    Attributes:
        command: The command, as it was asked for.
        merged: Standard output and error in the order in which they were written, with `merge`.

    All others are those of `ExecResponse`; `output` is both streams: `merged`, or stdout and then stderr.
    """

    command: str = ""
    merged: str = ""

    @property
    def ok(self) -> bool:
        """Whether the command ended with exit code 0."""
        return self.exit_code == 0 and not self.running

    @property
    def duration(self) -> timedelta:
        """Run time."""
        return timedelta(milliseconds=self.duration_ms)

    def check(self) -> "ExecResult":
        """Returns the result itself; raises `CommandError` for an exit code other than 0."""
        if self.exit_code != 0:
            raise CommandError(self.command, self.exit_code, self.stdout or self.merged, self.stderr)
        return self


def result_of(answer: ExecResponse, command: str) -> ExecResult:
    """The result of an answer. `output` is filled also without `merge`."""
    fields = {each.name: getattr(answer, each.name) for each in dataclasses.fields(answer)}
    both = [text for text in (answer.stdout, answer.stderr) if text]
    fields["output"] = answer.output or "\n".join(both)
    return ExecResult(**fields, command=command, merged=answer.output)
