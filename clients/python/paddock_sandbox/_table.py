"""How the operations of the service are called over HTTP.

Generated from proto/service/v1 and handlers/index.ts by `npm run generate`; do not edit.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from .messages import PatternType, Permission, Runtime, SandboxStatus


class Route(NamedTuple):
    """Where an operation is, and how it may be repeated.

    Attributes:
        kind: Form of request and answer: "unary", "events", "raw", "bytes" or "download".
        retry: "read" and "same" have no further effect; "key" has none with an idempotency key; "again" takes effect
            again.
        query: Query parameter that the path is used with.
        timed: Whether the request has a field "timeout".
    """

    method: str
    path: str
    kind: str
    retry: str
    query: str = ""
    timed: bool = False


ROUTES: dict[str, Route] = {
    "CreateCodebase": Route("POST", "/v1/codebases", "unary", "key"),
    "GetCodebase": Route("GET", "/v1/codebases/{codebase_id}", "unary", "read"),
    "ListCodebases": Route("GET", "/v1/codebases", "unary", "read"),
    "DeleteCodebase": Route("DELETE", "/v1/codebases/{codebase_id}", "unary", "same"),
    "UploadFile": Route("PUT", "/v1/codebases/{codebase_id}/files/{file_path+}", "raw", "same"),
    "DownloadFile": Route("GET", "/v1/codebases/{codebase_id}/files/{file_path+}", "download", "read"),
    "ListFiles": Route("GET", "/v1/codebases/{codebase_id}/files", "unary", "read"),
    "RemoveFile": Route("DELETE", "/v1/codebases/{codebase_id}/files/{file_path+}", "unary", "same"),
    "ImportCodebaseFiles": Route("PUT", "/v1/codebases/{codebase_id}/files", "raw", "same"),
    "ExportCodebaseFiles": Route("GET", "/v1/codebases/{codebase_id}/files", "bytes", "read", query="format"),
    "ImportImage": Route("PUT", "/v1/images/{name+}", "raw", "same"),
    "GetImage": Route("GET", "/v1/images/{image+}", "unary", "read"),
    "ListImages": Route("GET", "/v1/images", "unary", "read"),
    "DeleteImage": Route("DELETE", "/v1/images/{image+}", "unary", "same"),
    "CreateKey": Route("POST", "/v1/keys", "unary", "key"),
    "ListKeys": Route("GET", "/v1/keys", "unary", "read"),
    "RevokeKey": Route("DELETE", "/v1/keys/{key_id}", "unary", "same"),
    "GetCaller": Route("GET", "/v1/caller", "unary", "read"),
    "CreateTicket": Route("POST", "/v1/tickets", "unary", "again"),
    "GetNetwork": Route("GET", "/v1/sandboxes/{sandbox_id}/network", "unary", "read"),
    "UpdateNetwork": Route("PUT", "/v1/sandboxes/{sandbox_id}/network", "unary", "same"),
    "ExplainNetwork": Route("GET", "/v1/sandboxes/{sandbox_id}/network/explain", "unary", "read"),
    "ListConnections": Route("GET", "/v1/sandboxes/{sandbox_id}/network/connections", "unary", "read"),
    "WatchNetwork": Route("GET", "/v1/sandboxes/{sandbox_id}/network/events", "events", "read"),
    "ListNetworkPresets": Route("GET", "/v1/network-presets", "unary", "read"),
    "SetOwnerLimits": Route("PUT", "/v1/owners/{owner_id}/limits", "unary", "same"),
    "GetOwnerLimits": Route("GET", "/v1/owners/{owner_id}/limits", "unary", "read"),
    "OpenPort": Route("POST", "/v1/sandboxes/{sandbox_id}/ports", "unary", "again"),
    "ListPorts": Route("GET", "/v1/sandboxes/{sandbox_id}/ports", "unary", "read", query="opened"),
    "GetPort": Route("GET", "/v1/sandboxes/{sandbox_id}/ports/{port}", "unary", "read"),
    "ClosePort": Route("DELETE", "/v1/sandboxes/{sandbox_id}/ports/{port}", "unary", "same"),
    "StartProcess": Route("POST", "/v1/sandboxes/{sandbox_id}/processes", "unary", "again", timed=True),
    "GetProcess": Route("GET", "/v1/sandboxes/{sandbox_id}/processes/{process_id}", "unary", "read"),
    "ListProcesses": Route("GET", "/v1/sandboxes/{sandbox_id}/processes", "unary", "read"),
    "DeleteProcess": Route("DELETE", "/v1/sandboxes/{sandbox_id}/processes/{process_id}", "unary", "same"),
    "SignalProcess": Route("POST", "/v1/sandboxes/{sandbox_id}/processes/{process_id}/signal", "unary", "again"),
    "ResizeTerminal": Route("POST", "/v1/sandboxes/{sandbox_id}/processes/{process_id}/resize", "unary", "same"),
    "ReadProcessOutput": Route("GET", "/v1/sandboxes/{sandbox_id}/processes/{process_id}/output", "unary", "read"),
    "WatchProcess": Route("GET", "/v1/sandboxes/{sandbox_id}/processes/{process_id}/events", "events", "read"),
    "WriteProcessInput": Route("POST", "/v1/sandboxes/{sandbox_id}/processes/{process_id}/input", "raw", "again"),
    "WaitPort": Route("GET", "/v1/sandboxes/{sandbox_id}/ports", "unary", "read"),
    "CreateSandbox": Route("POST", "/v1/sandboxes", "unary", "key"),
    "GetSandbox": Route("GET", "/v1/sandboxes/{sandbox_id}", "unary", "read"),
    "ListSandboxes": Route("GET", "/v1/sandboxes", "unary", "read"),
    "UpdateSandbox": Route("PATCH", "/v1/sandboxes/{sandbox_id}", "unary", "again"),
    "StartSandbox": Route("POST", "/v1/sandboxes/{sandbox_id}/start", "unary", "same"),
    "StopSandbox": Route("POST", "/v1/sandboxes/{sandbox_id}/stop", "unary", "same"),
    "DestroySandbox": Route("DELETE", "/v1/sandboxes/{sandbox_id}", "unary", "same"),
    "Exec": Route("POST", "/v1/sandboxes/{sandbox_id}/exec", "unary", "again", timed=True),
    "ExecStream": Route("POST", "/v1/sandboxes/{sandbox_id}/exec/stream", "events", "again", timed=True),
    "CreateSession": Route("POST", "/v1/sandboxes/{sandbox_id}/sessions", "unary", "again"),
    "GetSession": Route("GET", "/v1/sessions/{session_id}", "unary", "read"),
    "ListSessions": Route("GET", "/v1/sandboxes/{sandbox_id}/sessions", "unary", "read"),
    "DestroySession": Route("DELETE", "/v1/sessions/{session_id}", "unary", "same"),
    "SessionExec": Route("POST", "/v1/sessions/{session_id}/exec", "unary", "again", timed=True),
    "SessionExecStream": Route("POST", "/v1/sessions/{session_id}/exec/stream", "events", "again", timed=True),
    "UpdatePermissions": Route("PUT", "/v1/sandboxes/{sandbox_id}/permissions", "unary", "same"),
    "ExplainPermission": Route("GET", "/v1/sandboxes/{sandbox_id}/permissions/explain", "unary", "read"),
    "ListRefusals": Route("GET", "/v1/sandboxes/{sandbox_id}/permissions/refusals", "unary", "read"),
    "ListPresets": Route("GET", "/v1/presets", "unary", "read"),
    "ListChanges": Route("GET", "/v1/sandboxes/{sandbox_id}/changes", "unary", "read"),
    "ExportChanges": Route("GET", "/v1/sandboxes/{sandbox_id}/changes", "bytes", "read", query="format"),
    "Commit": Route("POST", "/v1/sandboxes/{sandbox_id}/commit", "unary", "key"),
    "Discard": Route("POST", "/v1/sandboxes/{sandbox_id}/discard", "unary", "again"),
    "CreateCheckpoint": Route("POST", "/v1/sandboxes/{sandbox_id}/checkpoints", "unary", "key"),
    "ListCheckpoints": Route("GET", "/v1/sandboxes/{sandbox_id}/checkpoints", "unary", "read"),
    "DeleteCheckpoint": Route("DELETE", "/v1/sandboxes/{sandbox_id}/checkpoints/{name}", "unary", "same"),
    "Rollback": Route("POST", "/v1/sandboxes/{sandbox_id}/rollback", "unary", "again"),
    "Fork": Route("POST", "/v1/sandboxes/{sandbox_id}/fork", "unary", "key"),
    "StatFile": Route("GET", "/v1/sandboxes/{sandbox_id}/stat", "unary", "read"),
    "PreviewFile": Route("GET", "/v1/sandboxes/{sandbox_id}/preview", "unary", "read"),
    "ListDirectory": Route("GET", "/v1/sandboxes/{sandbox_id}/files", "unary", "read"),
    "ReadFile": Route("GET", "/v1/sandboxes/{sandbox_id}/files/{path+}", "download", "read"),
    "WriteFile": Route("PUT", "/v1/sandboxes/{sandbox_id}/files/{path+}", "raw", "same"),
    "MakeDirectory": Route("POST", "/v1/sandboxes/{sandbox_id}/mkdir", "unary", "same"),
    "MoveFile": Route("POST", "/v1/sandboxes/{sandbox_id}/move", "unary", "again"),
    "DeleteFile": Route("DELETE", "/v1/sandboxes/{sandbox_id}/files/{path+}", "unary", "same"),
    "ExportFiles": Route("GET", "/v1/sandboxes/{sandbox_id}/files", "bytes", "read", query="format"),
    "ImportFiles": Route("PUT", "/v1/sandboxes/{sandbox_id}/files", "raw", "same"),
    "PutSecret": Route("PUT", "/v1/secrets/{name}", "unary", "same"),
    "GetSecret": Route("GET", "/v1/secrets/{name}", "unary", "read"),
    "ListSecrets": Route("GET", "/v1/secrets", "unary", "read"),
    "DeleteSecret": Route("DELETE", "/v1/secrets/{name}", "unary", "same"),
    "Health": Route("GET", "/health", "unary", "read"),
}

#: Fields of requests at which streams go on, and those of their messages with the next value.
CURSORS: dict[str, tuple[str, str]] = {
    "WatchNetwork": ("after", "sequence"),
    "WatchProcess": ("offset", "next"),
}

#: Lengths of time, by how many of their units are a second.
DURATIONS: dict[str, int] = {
    "expires_in": 1,
    "idle_timeout": 1,
    "timeout": 1,
    "wait": 1000,
    "yield_after": 1000,
}

#: Fields of requests that are words, with what the service puts in front of them.
WORDS: dict[str, tuple[str, type[StrEnum]]] = {
    "permission": ("PERMISSION_", Permission),
    "runtime": ("RUNTIME_", Runtime),
    "status": ("SANDBOX_", SandboxStatus),
    "type": ("PATTERN_", PatternType),
}

#: Fields whose keys are the caller's own.
MAPS = frozenset(("env", "labels"))
