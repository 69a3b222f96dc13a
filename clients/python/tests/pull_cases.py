"""What a server says in the cases of clients/spec/pull; its README.md has the fields."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import tarfile
import threading
import urllib.parse
from typing import Any, Dict, List, Mapping, Optional

from pull_trees import Tree, act

Case = Mapping[str, Any]


def member_of(name: str, entry: Any) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name.rstrip("/"))
    if name.endswith("/"):
        member.type, member.mode = tarfile.DIRTYPE, 0o755
    elif isinstance(entry, dict) and "link" in entry:
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, entry["link"], 0o777
    else:
        member.mode = int(entry.get("mode", "644"), 8) if isinstance(entry, dict) else 0o644
        member.size = len(content_of(entry))
    return member


def content_of(entry: Any) -> bytes:
    return (entry["file"] if isinstance(entry, dict) else entry).encode()


def _base_of(base: Tree, path: str) -> Optional[str]:
    """The name of what is at a path of the codebase; a directory may be there for what it has."""
    if path in base:
        return path
    return f"{path}/" if any(each.startswith(f"{path}/") for each in base) else None


def _version(member: Optional[tarfile.TarInfo], entry: Any) -> str:
    return hashlib.sha256(content_of(entry)).hexdigest() if member is not None and member.isfile() else ""


def _type_of(member: Optional[tarfile.TarInfo]) -> str:
    if member is None or member.isfile():
        return "TYPE_FILE"
    return "TYPE_SYMLINK" if member.issym() else "TYPE_DIRECTORY"


def changes_of(case: Case, query: str) -> List[Dict[str, Any]]:
    """As a server lists them."""
    base, found, asked = case.get("base", {}), [], urllib.parse.parse_qs(query)
    for name, entry in case["sandbox"].items():
        path = name.rstrip("/")
        if not _is_within(path, asked.get("paths", [path])) or _is_within(path, asked.get("exclude", [])):
            continue
        was_name = _base_of(base, path)
        was = None if was_name is None else member_of(was_name, base.get(was_name, ""))
        now = None if entry is None else member_of(name, entry)
        local: Dict[str, Any] = {
            "base_sha256": _version(was, base.get(path)),
            "base_link_target": was.linkname if was else "",
            "sha256": _version(now, entry),
            "link_target": now.linkname if now else "",
        }
        if path in case.get("refusals", {}):
            local["refusal"] = case["refusals"][path]
        change = {
            "path": path,
            "kind": "CHANGE_DELETED" if now is None else "CHANGE_ADDED" if was is None else "CHANGE_MODIFIED",
            "type": _type_of(now or was),
            "base_type": _type_of(was),
            "size": now.size if now else 0,
            "mode": now.mode if now else 0,
            "base_mode": was.mode if was else 0,
            "renamed_from": case.get("renamed", {}).get(path, ""),
            "local": local,
        }
        for field, value in case.get("listed", {}).get(path, {}).items():
            (local if field in local else change)[field] = value
        found.append({field: value for field, value in change.items() if value is not None})
    return found


def _is_within(path: str, paths: List[str]) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in paths)


def tar_of(case: Case) -> bytes:
    """The archive of the changes."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, entry in {**case["sandbox"], **case.get("archive", {})}.items():
            if entry is not None:
                member = member_of(name, entry)
                tar.addfile(member, io.BytesIO(content_of(entry)) if member.isfile() else None)
    return made.getvalue()


class CaseServer:
    """Answers as a server with the case that it has; before it sends an archive, others do their steps in `root`."""

    case: Case
    root: str
    steps: List[List[str]]
    destroyed = False

    def __init__(self) -> None:
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *given: _Handler(self, *given))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: str, query: str) -> bytes:
        if "/codebases/" in path:
            return content_of(self.case["base"][urllib.parse.unquote(path.partition("/files/")[2])])
        if not path.endswith("/changes"):
            return json.dumps({"id": "sb_1", "codebase_id": "cb_1"}).encode()
        if "format=" not in query:
            return json.dumps({"changes": changes_of(self.case, query)}).encode()
        while self.steps:
            act(self.root, self.steps.pop(0))
        return tar_of(self.case)

    def __enter__(self) -> "CaseServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    def __init__(self, cases: CaseServer, *given: Any) -> None:
        self._cases = cases
        super().__init__(*given)

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        content = self._cases.answer(url.path, url.query)
        self.send_response(200)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        breaks = "format=" in url.query and self._cases.case.get("breaks")
        self.wfile.write(content[:512] if breaks else content)

    def do_DELETE(self) -> None:
        self._cases.destroyed = True
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass
