"""Who owns what is written: the owner of what it replaces, or of its directory. Only root may give a file away."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from typing import Iterator, Optional, Tuple

Owner = Tuple[int, int]


def owner_of(replaced: Optional[os.stat_result], directory: os.stat_result) -> Optional[Owner]:
    """None: whoever writes it. Others than root keep the group of what they replace, as far as they are in it."""
    if not hasattr(os, "geteuid") or (os.geteuid() != 0 and replaced is None):
        return None
    like = replaced or directory
    return like.st_uid if os.geteuid() == 0 else os.geteuid(), like.st_gid


def give(descriptor: int, owner: Optional[Owner]) -> None:
    """A file that was made here. Before its mode is set: a change of owner may clear bits."""
    if owner is not None:
        with _unless_refused():
            os.chown(descriptor, *owner)


def give_at(path: str, owner: Optional[Owner], directory: Optional[int] = None) -> None:
    """A directory or a symlink that was made here.

    The threat: another user who may write to the directory puts a link to a file of root in its place. So it is held
    while it is looked at, and given only if it is no file.
    """
    if owner is None:
        return
    if not sys.platform.startswith("linux"):
        with _unless_refused():
            os.chown(path, *owner, dir_fd=directory, follow_symlinks=False)
        return
    held = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        found = os.fstat(held)
        if not stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
            with _unless_refused():
                os.chown(f"/proc/self/fd/{held}", *owner)
    finally:
        os.close(held)


@contextlib.contextmanager
def _unless_refused() -> Iterator[None]:
    """File systems without owners; root of a user namespace, who has not all of them; no /proc."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.ENOENT):
            raise
