"""Trees of the cases of clients/spec/pull; its README.md has the fields."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import time
from typing import Any, Dict, List, Mapping, Sequence

Tree = Mapping[str, Any]


def put(root: str, tree: Tree) -> None:
    for name, entry in tree.items():
        path = os.path.join(root, name.rstrip("/"))
        if os.path.lexists(path) and (entry is None or not name.endswith("/")):
            (shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)
        if entry is None:
            continue
        os.makedirs(path if name.endswith("/") else os.path.dirname(path), exist_ok=True)
        if not name.endswith("/"):
            _put(root, path, {"file": entry} if isinstance(entry, str) else entry)


def _put(root: str, path: str, entry: Mapping[str, Any]) -> None:
    if "link" in entry:
        os.symlink(entry["link"], path)
    elif "hardlink" in entry:
        os.link(os.path.join(root, entry["hardlink"]), path)
    elif "fifo" in entry:
        os.mkfifo(path)
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(entry["file"])
        os.chmod(path, int(entry.get("mode", "644"), 8))
        if "days" in entry:
            os.utime(path, (time.time() - entry["days"] * 86_400,) * 2)


def act(root: str, step: Sequence[str]) -> None:
    """What others do."""
    kind, name, to = step[0], step[1], step[-1]
    if kind == "move":
        os.rename(os.path.join(root, name), os.path.join(root, to))
    else:
        put(root, {name: {"write": to, "link": {"link": to}, "fifo": {"fifo": True}, "remove": None}[kind]})


def snapshot(root: str) -> Dict[str, str]:
    found = {}
    for above, directories, files in os.walk(root):
        for name in (*directories, *files):
            path = os.path.join(above, name)
            found[os.path.relpath(path, root)] = _shown(path)
    return found


def _shown(path: str) -> str:
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        return f"-> {os.readlink(path)}"
    if stat.S_ISREG(found.st_mode):
        with open(path, encoding="utf-8") as file:
            return f"{stat.S_IMODE(found.st_mode):o} {file.read()}"
    return "directory" if stat.S_ISDIR(found.st_mode) else "other"


def own(root: str, owners: Mapping[str, str]) -> None:
    for name, owner in owners.items():
        uid, gid = map(int, owner.split(":"))
        os.lchown(os.path.join(root, name), uid, gid)


def owners_of(root: str, names: Sequence[str]) -> Dict[str, str]:
    found = {name: os.lstat(os.path.join(root, name)) for name in names}
    return {name: f"{each.st_uid}:{each.st_gid}" for name, each in found.items()}


def lock(root: str, names: List[str], flag: str = "+i") -> None:
    """Also for root."""
    for name in names:
        subprocess.run(["chattr", flag, os.path.join(root, name)], check=True)
