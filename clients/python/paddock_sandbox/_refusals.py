"""Which paths of a sandbox are never written locally: those of repositories, by which programs here are run."""

from __future__ import annotations

import json
import os
import re
from typing import Optional

from ._home_table import REPOSITORIES

#: Parts of a repository by which git runs programs, or finds another repository, and short names of them.
_UNSAFE = re.compile(
    r"(commondir|gitdir|(http-)?alternates|hooks|config.*|rebase-merge|rebase-apply|sequencer|.*~\d+)\Z", re.DOTALL
)
#: Below these the names are those of branches.
_NAMES = ("refs", "logs")
#: Characters that HFS+ leaves out of names.
_LEFT_OUT = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_SHORT = {name.lstrip(".")[:6]: name for name in REPOSITORIES}
_SHORT_NAME = re.compile(r"(.*)~\d+\Z", re.DOTALL)


def meaning(name: str) -> str:
    """What a name means in some file system: without the dots at its end, or a stream of Windows."""
    return _LEFT_OUT.sub("", name).split(":", 1)[0].rstrip(". ").lower()


def repository_of(name: str) -> Optional[str]:
    """The repository that a name means in some file system; `git~1` is a short name of Windows."""
    meant = meaning(name)
    if meant in REPOSITORIES:
        return meant
    short = _SHORT_NAME.match(meant)
    return _SHORT.get(short.group(1)) if short else None


def refused(path: str, git: bool, is_directory: bool) -> str:
    """Why a path is never written; empty if it may be. `git`: changes in `.git` may be."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part or (os.sep == "\\" and os.sep in part) for part in parts):
        return "not a path below the directory"
    meant = [repository_of(part) for part in parts]
    at = next((index for index, each in enumerate(meant) if each is not None), None)
    if at is None:
        return ""
    other = next((each for each in meant if each not in (None, ".git")), None)
    if other is not None:
        return f"it is in {other}"
    if not git:
        return "it is in .git, which is pulled on request only"
    rest = parts[at + 1 :]
    aliased = any(each is not None and part != ".git" for each, part in zip(meant, parts))
    if aliased or (not rest and not is_directory) or (meant[-1] is not None and not is_directory):
        return "it could redirect git to another repository"
    if rest and rest[0] not in _NAMES and any(_UNSAFE.match(meaning(part)) for part in rest):
        return "git could run a program by it"
    return ""


def link_refused(path: str, target: str) -> str:
    """Why a symlink is never made: programs that are run here would follow it.

    A ".." after a name is not resolved: the name may be a symlink itself.
    """
    parts = path.split("/")
    within = next((each for each in map(repository_of, parts) if each is not None), None)
    if within is not None:
        return f"it is a symlink in {within}"
    steps = [part for part in target.split("/") if part not in ("", ".")]
    up = steps.count("..")
    leads = f"it is a symlink to {json.dumps(target)}"
    drive = re.match("[A-Za-z]:", target)
    if target.startswith("/") or "\\" in target or drive or up > len(parts) - 1:
        return f"{leads}, out of the directory"
    if any(part != ".." for part in steps[:up]):
        return f"{leads}, which could lead out of the directory"
    into = next((each for each in map(repository_of, steps) if each is not None), None)
    return f"{leads}, in {into}" if into is not None else ""
