"""Messages of the service's answers, and of rules and limits in requests.

Generated from proto/service/v1 by `npm run generate`; do not edit. A field that the server does not send has
its default. A word that this version does not know is a text.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta, timezone
from enum import StrEnum
from typing import Mapping, Optional, Tuple

_EPOCH = datetime.fromtimestamp(0, timezone.utc)


__all__ = [
    "Attached",
    "Caller",
    "ChangeKind",
    "Checkpoint",
    "ChosenHunks",
    "Codebase",
    "CommitResponse",
    "Connection",
    "CreatedKey",
    "DeleteFileResponse",
    "DeniedHost",
    "DeniedHosts",
    "DiscardResponse",
    "ExecResponse",
    "ExecStreamChunk",
    "FileChange",
    "FileDiff",
    "FileInfo",
    "FileStat",
    "FileType",
    "ForkError",
    "ForkResponse",
    "ForkResult",
    "Hunk",
    "Image",
    "ImportCodebaseFilesResponse",
    "ImportFilesResponse",
    "Key",
    "ListPortsResponse",
    "ListeningPort",
    "LocalChange",
    "LocalRefusal",
    "MatchingNetworkRule",
    "MatchingRule",
    "NetworkEnd",
    "NetworkEvent",
    "NetworkExplanation",
    "NetworkPolicy",
    "NetworkPreset",
    "NetworkRule",
    "OpenPortResponse",
    "OpenedPort",
    "OutputStream",
    "OwnerLimits",
    "OwnerSettings",
    "PatternType",
    "Permission",
    "PermissionExplanation",
    "PermissionRule",
    "PermissionRules",
    "Preset",
    "PreviewFileResponse",
    "Process",
    "ProcessEnd",
    "ProcessEvent",
    "ProcessOutput",
    "ReadProcessOutputResponse",
    "RedactedValue",
    "RefusedPath",
    "ResourceLimits",
    "RuleWarning",
    "Runtime",
    "Sandbox",
    "SandboxSecret",
    "SandboxStatus",
    "Secret",
    "SecretBinding",
    "Session",
    "SessionStatus",
    "TerminalSize",
    "Ticket",
    "UploadFileResponse",
    "WaitPortResponse",
    "WriteProcessInputResponse",
]


class ChangeKind(StrEnum):
    """Kind of a change."""

    #: The path exists in the sandbox only.
    ADDED = "added"
    #: The path exists in both, with a difference.
    MODIFIED = "modified"
    #: The path exists in the codebase only.
    DELETED = "deleted"


class OutputStream(StrEnum):
    """Output stream of a command."""

    #: Standard output.
    STDOUT = "stdout"
    #: Standard error.
    STDERR = "stderr"


class SessionStatus(StrEnum):
    """State of a session."""

    #: The session accepts commands.
    ACTIVE = "active"
    #: The session has ended; status_reason gives the reason.
    CLOSED = "closed"


class FileType(StrEnum):
    """Type of a file."""

    #: Regular file.
    FILE = "file"
    #: Directory.
    DIRECTORY = "directory"
    #: Symbolic link.
    SYMLINK = "symlink"
    #: FIFO, socket or device.
    OTHER = "other"


class Permission(StrEnum):
    """Access that a rule grants to commands at the paths that it matches."""

    #: The path does not exist for the command.
    NONE = "none"
    #: The path is listed and can be stat'ed; its contents cannot be opened.
    VIEW = "view"
    #: The contents can be read; nothing can be changed.
    READ = "read"
    #: Every operation is allowed.
    WRITE = "write"


class PatternType(StrEnum):
    """Syntax and meaning of a rule's pattern."""

    #: A glob: "*", "?", "[...]" and "{a,b}" match within one path component, "**" any number of
    #: components.
    GLOB = "glob"
    #: The directory and everything below it.
    DIRECTORY = "directory"
    #: One exact path.
    FILE = "file"


class SandboxStatus(StrEnum):
    """State of a sandbox."""

    #: The sandbox is being created.
    PENDING = "pending"
    #: The sandbox accepts commands.
    RUNNING = "running"
    #: The sandbox has its files but no processes.
    STOPPED = "stopped"
    #: The sandbox could not be started, or ended unexpectedly; status_reason gives the reason.
    ERROR = "error"


class Runtime(StrEnum):
    """Mechanism that isolates a sandbox."""

    #: Namespaces created by bubblewrap.
    BWRAP = "bwrap"
    #: A Docker container.
    DOCKER = "docker"
    #: No isolation: for tests.
    MOCK = "mock"


@dataclasses.dataclass(frozen=True)
class FileChange:
    """A path at which a sandbox differs from its codebase.

    Attributes:
        path: Path from the codebase root.
        kind: Kind of the change.
        type: Type of the sandbox's file; of a deletion: of the codebase's file.
        size: Size of the sandbox's file in bytes; 0 for a deletion and for a directory.
        base_size: Size of the codebase's file in bytes; 0 if it has none, and for a directory.
        mode: Permission bits in the sandbox; 0 for a deletion.
        base_mode: Permission bits in the codebase; 0 for an addition.
        base_type: Type of the codebase's file, if it differs from `type`.
        content_changed: False if only the permission bits differ.
        renamed_from: Codebase path of an added file that is a renamed one, or of a modified one
            whose name a renamed one took, if known; empty
            otherwise.
        conflict: True if the codebase's version is no longer the one that the sandbox started
            from: Commit needs on_conflict.
        scratch: True if the rules make this path scratch; only with include_scratch.
        diff: Comparison by lines of a modified file, or of a renamed one with what the codebase
            has at `renamed_from`; only with `diff`
            of the request, and not of files that came along.
        came_along: True if the file or symlink was renamed with a directory above it, and is
            otherwise as the codebase has it at `renamed_from`.
        loses_values: True if the codebase's file has values that the rules show as placeholders,
            and they would be lost: it was removed or renamed,
            is no file any more, lacks some of them, or has placeholders in their place. False
            with `as` "agent". Clients bring it to a local directory only if
            it is allowed by name.
        local: What decides whether the change comes to a local directory; only with `local` of
            the request.
    """

    path: str = ""
    kind: ChangeKind = ChangeKind.ADDED
    type: FileType = FileType.FILE
    size: int = 0
    base_size: int = 0
    mode: int = 0
    base_mode: int = 0
    base_type: FileType = FileType.FILE
    content_changed: bool = False
    renamed_from: str = ""
    conflict: bool = False
    scratch: bool = False
    diff: Optional[FileDiff] = None
    came_along: bool = False
    loses_values: bool = False
    local: Optional[LocalChange] = None


@dataclasses.dataclass(frozen=True)
class LocalChange:
    """What decides whether a change comes to a local directory: it does if there is no refusal, and
    if that directory has what
    the codebase has.

    Attributes:
        base_sha256: SHA-256 of the codebase's file in lower-case hex. Empty if it is no file, or
            if `conflict` is true.
        base_link_target: Target of the codebase's symlink. Empty if `conflict` is true.
        sha256: SHA-256 in lower-case hex of what an export has of the sandbox's file. Empty if
            it is no file, was written to while it
            was read, or has more than 1 GiB of holes: then it must not come.
        link_target: Target of the sandbox's symlink.
        refusal: Why the change must not be brought to a local directory. Absent: it may.
    """

    base_sha256: str = ""
    base_link_target: str = ""
    sha256: str = ""
    link_target: str = ""
    refusal: Optional[LocalRefusal] = None


@dataclasses.dataclass(frozen=True)
class LocalRefusal:
    """Why a change must not be brought to a local directory: a program there could run it, or be
    led elsewhere by it. With
    neither `allow` nor `git` it is never brought.

    Attributes:
        reason: One sentence.
        allow: Path that the user must allow by name for it: a tool runs what is there on sight.
            Empty: none.
        git: True if the user must ask for changes in .git.
    """

    reason: str = ""
    allow: str = ""
    git: bool = False


@dataclasses.dataclass(frozen=True)
class FileDiff:
    """Comparison of the two versions of a modified or renamed file by lines.

    Attributes:
        base_sha256: SHA-256 of the codebase's contents in lower-case hex; empty without hunks.
        sha256: SHA-256 of the sandbox's contents in lower-case hex; empty without hunks.
        hunks: Differences, in order.
        no_hunks: Reason why there are no hunks. "binary": not UTF-8 text; "large": a side has
            more than 512 KiB; "placeholders": the rules
            show placeholders in the file; "unreadable": the rules only list it. Empty otherwise.
        base_mode: Permission bits of the codebase's file; 0 without hunks. A commit of some
            hunks keeps them.
    """

    base_sha256: str = ""
    sha256: str = ""
    hunks: Tuple[Hunk, ...] = ()
    no_hunks: str = ""
    base_mode: int = 0


@dataclasses.dataclass(frozen=True)
class Hunk:
    """Adjacent lines of a text file that differ. Texts are whole lines with their ends.

    Attributes:
        old_start: First line of the codebase's file that differs, from 1. With old_lines 0 the
            new lines are inserted before it.
        old_lines: Number of lines that are replaced or removed.
        new_start: First line of the sandbox's file that differs, from 1.
        new_lines: Number of lines that replace them.
        before: Up to three equal lines before.
        removed: Lines of the codebase's file.
        added: Lines of the sandbox's file.
        after: Up to three equal lines after.
    """

    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0
    before: str = ""
    removed: str = ""
    added: str = ""
    after: str = ""


@dataclasses.dataclass(frozen=True)
class DiscardResponse:
    """Response of Discard.

    Attributes:
        discarded: Number of paths whose changes were dropped.
    """

    discarded: int = 0


@dataclasses.dataclass(frozen=True)
class ChosenHunks:
    """Hunks of one modified or renamed text file, as ListChanges showed them.

    Attributes:
        path: Path from the codebase root.
        base_sha256: base_sha256 of the diff. The commit is refused if the codebase has other
            contents by now.
        sha256: sha256 of the diff. The commit is refused if the sandbox has other contents by
            now.
        indexes: Indexes in the list of hunks, from 0, ascending.
    """

    path: str = ""
    base_sha256: str = ""
    sha256: str = ""
    indexes: Tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class CommitResponse:
    """Response of Commit.

    Attributes:
        committed: False after dry_run.
        count: Number of committed changes; with dry_run, of changes that would be committed.
        changes: The first 1000 of these changes; fewer if their paths have more than 1 MiB.
        conflicts: The first 1000 paths in conflict; fewer if they have more than 1 MiB.
    """

    committed: bool = False
    count: int = 0
    changes: Tuple[FileChange, ...] = ()
    conflicts: Tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A saved state of a sandbox.

    Attributes:
        sandbox_id: Sandbox of the checkpoint.
        name: Name, unique in the sandbox.
        created_at: Time of creation.
        files: Number of files, directories and symlinks in the sandbox's delta at that time.
        bytes: Bytes of the files in the sandbox's delta at that time.
    """

    sandbox_id: str = ""
    name: str = ""
    created_at: datetime = _EPOCH
    files: int = 0
    bytes: int = 0


@dataclasses.dataclass(frozen=True)
class Codebase:
    """A stored set of files.

    Attributes:
        id: Identifier: "cb_", then letters and digits.
        name: Name given at creation; names need not be unique.
        owner_id: User who owns the codebase; may be empty.
        created_at: Time of creation.
        file_count: Number of files. Of those added to the server's storage by hand, and after a
            crash, as counted last.
        total_size: Size of all files in bytes. As counted last, like file_count.
        status_reason: Reason why the files cannot be counted, or are not counted yet (file_count
            and total_size are then 0); empty otherwise.
        totals_outdated: Whether file_count and total_size may not be those of the present files:
            after a crash or a failed change, until the
            files are counted again in the background. status_reason is empty then, unless they
            were never counted.
        revision: Another one after each change through the service: while it stays the same, so
            do the files. After a crash it is
            another one, too. Empty: not known.
    """

    id: str = ""
    name: str = ""
    owner_id: str = ""
    created_at: datetime = _EPOCH
    file_count: int = 0
    total_size: int = 0
    status_reason: str = ""
    totals_outdated: bool = False
    revision: str = ""


@dataclasses.dataclass(frozen=True)
class UploadFileResponse:
    """Response of UploadFile.

    Attributes:
        size: Size of the contents in bytes.
        checksum: SHA-256 of the contents in lower-case hexadecimal.
    """

    size: int = 0
    checksum: str = ""


@dataclasses.dataclass(frozen=True)
class FileInfo:
    """A file or directory of a codebase.

    Attributes:
        path: Path from the codebase root.
        size: Size in bytes; 0 for a directory.
        modified_at: Time of the last change of the contents.
        is_dir: True for a directory.
        mode: Permission bits.
        symlink_target: Target of a symlink, whose bytes that are not UTF-8 are U+FFFD; empty for
            all else.
    """

    path: str = ""
    size: int = 0
    modified_at: datetime = _EPOCH
    is_dir: bool = False
    mode: int = 0
    symlink_target: str = ""


@dataclasses.dataclass(frozen=True)
class ImportCodebaseFilesResponse:
    """Response of ImportCodebaseFiles.

    Attributes:
        files: Number of files in the archive, hard links included.
        directories: Number of directories in the archive, or above its files.
        symlinks: Number of symlinks in the archive.
        size: Bytes of file contents.
        revision: Revision of the codebase with these files.
    """

    files: int = 0
    directories: int = 0
    symlinks: int = 0
    size: int = 0
    revision: str = ""


@dataclasses.dataclass(frozen=True)
class ExecResponse:
    """Response of Exec.

    Attributes:
        stdout: Standard output. Bytes that are not UTF-8 are replaced by U+FFFD. Output above
            the server's limit is cut, and a last
            line reports that; with `max_output`, a line between the beginning and the end.
        stderr: Standard error, with the same restrictions.
        exit_code: Exit code; 128+N if signal N ended the command.
        duration_ms: Run time in milliseconds.
        end_reason: Why the command ended: "exited", "signaled" (exit code 128+N, also a
            shell's), "out_of_memory", or "timeout" with
            `yield_after`; empty while it is `running`.
        output_truncated: Whether output was left out of `stdout`, `stderr` or `output`.
        stdout_dropped_bytes: Bytes of standard output that were left out.
        stderr_dropped_bytes: Bytes of standard error that were left out.
        running: Whether the command goes on as the process `process_id`. Its output from the
            beginning is in the process's log.
        process_id: Id of the process, if the command goes on.
        output: With `merge`: standard output and error in the order in which they were written,
            instead of `stdout` and `stderr`,
            which are empty.
        output_dropped_bytes: Bytes that were left out of `output`.
        denied_hosts: Connections of the sandbox that were refused while the command ran, by this
            command or another one: at most 50 names
            or addresses with their ports, each once.
        session_ended: SessionExec only. The shell of the session has ended with this command.
        session_reset: SessionExec only. The command was the first in a new shell, without the
            state of the one that was killed.
    """

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    duration_ms: int = 0
    end_reason: str = ""
    output_truncated: bool = False
    stdout_dropped_bytes: int = 0
    stderr_dropped_bytes: int = 0
    running: bool = False
    process_id: str = ""
    output: str = ""
    output_dropped_bytes: int = 0
    denied_hosts: Tuple[DeniedHost, ...] = ()
    session_ended: bool = False
    session_reset: bool = False


@dataclasses.dataclass(frozen=True)
class ExecStreamChunk:
    """Response of ExecStream.

    Attributes:
        data: Next bytes of the output; empty in the last chunk.
        stream: Stream that the bytes were written to.
        exit_code: Exit code, in the last chunk only; 128+N if signal N ended the command.
        duration_ms: Run time in milliseconds, in the last chunk.
        end_reason: Why the command ended, in the last chunk: "exited", "signaled" (exit code
            128+N, also a shell's) or "out_of_memory".
        keepalive: This chunk only shows that the command still runs.
        denied: In the last chunk, if connections were refused: see `denied_hosts` of
            ExecResponse.
        session_ended: SessionExecStream only, in the last chunk: see ExecResponse.
        session_reset: SessionExecStream only, in the last chunk: see ExecResponse.
    """

    data: bytes = b""
    stream: OutputStream = OutputStream.STDOUT
    exit_code: Optional[int] = None
    duration_ms: int = 0
    end_reason: Optional[str] = None
    keepalive: Optional[bool] = None
    denied: Optional[DeniedHosts] = None
    session_ended: Optional[bool] = None
    session_reset: Optional[bool] = None


@dataclasses.dataclass(frozen=True)
class Session:
    """A shell in a sandbox that keeps its state between commands.

    Attributes:
        id: Identifier: "se_", then letters and digits.
        sandbox_id: Sandbox of the session.
        status: State of the session.
        shell: Path of the shell in the sandbox.
        created_at: Time of creation.
        closed_at: Time of its end; absent: it has not ended.
        status_reason: Reason of "closed"; empty otherwise.
    """

    id: str = ""
    sandbox_id: str = ""
    status: SessionStatus = SessionStatus.ACTIVE
    shell: str = ""
    created_at: datetime = _EPOCH
    closed_at: Optional[datetime] = None
    status_reason: str = ""


@dataclasses.dataclass(frozen=True)
class FileStat:
    """A file, directory or symlink of a workspace.

    Attributes:
        path: Path from the root of the workspace.
        type: Type of the file.
        size: Size in bytes; 0 for a directory; the length of its target for a symlink.
        mode: Permission bits as they apply to the caller.
        modified_at: Time of the last change of the contents.
        target: Target of a symlink that the caller may read; empty otherwise.
        permission: Permission by the sandbox's rules, the same for agent and owner.
    """

    path: str = ""
    type: FileType = FileType.FILE
    size: int = 0
    mode: int = 0
    modified_at: datetime = _EPOCH
    target: str = ""
    permission: Permission = Permission.NONE


@dataclasses.dataclass(frozen=True)
class RedactedValue:
    """A value of a file that is shown as a placeholder.

    Attributes:
        key: Names from the root of the file, joined by dots; the label of a block of PEM.
        placeholder: What commands read in its place.
    """

    key: str = ""
    placeholder: str = ""


@dataclasses.dataclass(frozen=True)
class PreviewFileResponse:
    """Answer of PreviewFile.

    Attributes:
        path: Path from the root of the workspace.
        redacted: Whether a rule with `view` "redacted" decides at this path. If not, all other
            fields are empty: see ReadFile.
        content: What commands read: the first 256 KiB.
        hidden: The file is hidden as a whole: it is too large, or not of its redactor's format.
        values: Values with placeholders in the order of the file: the first 1000.
        value_count: Number of all values with placeholders.
    """

    path: str = ""
    redacted: bool = False
    content: str = ""
    hidden: bool = False
    values: Tuple[RedactedValue, ...] = ()
    value_count: int = 0


@dataclasses.dataclass(frozen=True)
class DeleteFileResponse:
    """Response of DeleteFile.

    Attributes:
        removed: Number of files, directories and symlinks removed.
    """

    removed: int = 0


@dataclasses.dataclass(frozen=True)
class ImportFilesResponse:
    """Response of ImportFiles.

    Attributes:
        files: Number of files unpacked.
        directories: Number of directories created.
        symlinks: Number of symlinks created.
        size: Bytes of file contents.
    """

    files: int = 0
    directories: int = 0
    symlinks: int = 0
    size: int = 0


@dataclasses.dataclass(frozen=True)
class Image:
    """A stored file system.

    Attributes:
        id: Identifier: "sha256:", then the digest of the image's configuration or, for a tar of
            a file system, of the tar.
        names: Names, each of one image only; an image whose names were given to others has none.
        format: Format of the archive: "tar", "oci" or "docker".
        created_at: Time of the import.
        file_count: Number of files, directories and links.
        total_size: Size of all files in bytes, which it takes on the disk once.
        env: Environment that the image gives to commands.
    """

    id: str = ""
    names: Tuple[str, ...] = ()
    format: str = ""
    created_at: datetime = _EPOCH
    file_count: int = 0
    total_size: int = 0
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Key:
    """A key without its secret.

    Attributes:
        id: Identifier: 8 letters and digits, which are part of the key.
        name: Name given at creation; names need not be unique.
        owner_id: Owner whose sandboxes and codebases the key may use; empty: a key of role
            admin.
        role: "admin": everything, of every owner; "owner": everything of one owner; "agent":
            commands and files of one sandbox.
        sandbox_id: The sandbox of a key of role agent; otherwise empty.
        scopes: Scopes that restrict the key further; none: all that its role may do.
        created_at: Time of creation.
        expires_at: Time from which the key is refused; absent: never.
        last_used_at: Time of the last use, to the minute; absent: never used.
        created_by: Identifier of the key that created this one; empty: it was created on the
            server's host.
        mask: Beginning and end of the key, to recognize it: "pdk_7f3a9c2e_…9c".
    """

    id: str = ""
    name: str = ""
    owner_id: str = ""
    role: str = ""
    sandbox_id: str = ""
    scopes: Tuple[str, ...] = ()
    created_at: datetime = _EPOCH
    expires_at: Optional[datetime] = None
    last_used_at: Optional[datetime] = None
    created_by: str = ""
    mask: str = ""


@dataclasses.dataclass(frozen=True)
class CreatedKey:
    """Response of CreateKey.

    Attributes:
        key: The key without its secret.
        secret: The key itself, as callers send it. The server does not store it and cannot show
            it again.
        notice: Set if the request was repeated with its idempotency key after its answer: why
            `secret` is empty; otherwise empty.
    """

    key: Optional[Key] = None
    secret: str = ""
    notice: str = ""


@dataclasses.dataclass(frozen=True)
class Caller:
    """The rights of a caller.

    Attributes:
        role: "admin", "owner" or "agent"; "admin" if authentication is off.
        owner_id: Owner whose sandboxes and codebases the caller may use; empty: every owner.
        sandbox_id: The only sandbox that the caller may use; empty: not restricted.
        scopes: Scopes that restrict the caller further; none: all that the role may do.
        key: Key of the caller; absent if authentication is off.
    """

    role: str = ""
    owner_id: str = ""
    sandbox_id: str = ""
    scopes: Tuple[str, ...] = ()
    key: Optional[Key] = None


@dataclasses.dataclass(frozen=True)
class Ticket:
    """Response of CreateTicket.

    Attributes:
        ticket: The value of the query parameter `ticket`. It can be used once.
        expires_at: Time from which it is refused: 30 seconds after its creation.
    """

    ticket: str = ""
    expires_at: datetime = _EPOCH


@dataclasses.dataclass(frozen=True)
class NetworkPolicy:
    """What the commands of a sandbox can connect to.

    Attributes:
        mode: "none" or empty: nothing; "allow_list": what a rule allows; "open": every public
            address, except what a rule denies.
        rules: Rules, at most 256. In answers with those of the presets.
        revision: Increases with each change. 0: the sandbox never had a policy. Without effect
            in CreateSandbox and Fork.
        presets: Names of presets (see ListNetworkPresets) whose rules are added to `rules`. In
            answers empty.
    """

    mode: str = ""
    rules: Tuple[NetworkRule, ...] = ()
    revision: int = 0
    presets: Tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class NetworkRule:
    """A rule: what it allows or denies is the connections that all of its fields match.

    Attributes:
        host: A name, or "*." and a name for all names below it. Either this or `cidr`. Case and
            a dot at the end do not matter.
        cidr: A network, for example "10.1.0.0/16" or "2001:db8::/32", or one address.
        ports: Ports; none: 80 and 443, and with "deny" all.
        action: "allow" or empty, or "deny".
        methods: Only HTTP requests with these methods; none: all, and what is not HTTP. Over TLS
            it needs `tls`.
        path_prefix: Only HTTP requests whose path is this one or below it; empty: all, and what
            is not HTTP. Over TLS it needs `tls`.
        tls: "inspect": the server decrypts TLS to this host, with a certificate that the sandbox
            trusts. Empty: it does not.
        preset: Preset that the rule comes from; empty: none.
    """

    host: str = ""
    cidr: str = ""
    ports: Tuple[int, ...] = ()
    action: str = ""
    methods: Tuple[str, ...] = ()
    path_prefix: str = ""
    tls: str = ""
    preset: str = ""


@dataclasses.dataclass(frozen=True)
class DeniedHost:
    """A host that connections of a sandbox were refused to.

    Attributes:
        host: The name that the program asked for, or the address.
        port: Port; 0: the name was not resolved.
        code: "denied_by_rule", "not_allowed", "special_address", "ceiling", "needs_inspection"
            or another reason of the same form.
        reason: The reason as a sentence.
        address: The address that was refused; empty: the decision was about the name or a
            request.
    """

    host: str = ""
    port: int = 0
    code: str = ""
    reason: str = ""
    address: str = ""


@dataclasses.dataclass(frozen=True)
class DeniedHosts:
    """Hosts that connections of a sandbox were refused to.

    Attributes:
        hosts: The hosts.
    """

    hosts: Tuple[DeniedHost, ...] = ()


@dataclasses.dataclass(frozen=True)
class MatchingNetworkRule:
    """A rule that a connection matches.

    Attributes:
        index: Index in the `rules` of the policy.
        rule: The rule.
    """

    index: int = 0
    rule: Optional[NetworkRule] = None


@dataclasses.dataclass(frozen=True)
class NetworkExplanation:
    """The decision on a connection.

    Attributes:
        allowed: Whether the connection is allowed.
        code: "allowed", "denied_by_rule", "not_allowed", "special_address", "ceiling" or
            "needs_inspection".
        reason: The decision as a sentence.
        winner: The rule that decides; absent: the mode, the server's network.allow_max or a
            special address does.
        beaten: The other rules that match, in the order in which they would decide.
        inspect: Whether the decision on each HTTP request needs inspected TLS.
        host: Name or address as it is compared with the rules: in lower case and ASCII.
    """

    allowed: bool = False
    code: str = ""
    reason: str = ""
    winner: Optional[MatchingNetworkRule] = None
    beaten: Tuple[MatchingNetworkRule, ...] = ()
    inspect: bool = False
    host: str = ""


@dataclasses.dataclass(frozen=True)
class Connection:
    """A connection of a sandbox, or an attempt that was refused.

    Attributes:
        sequence: Number of the connection, which increases within a sandbox.
        host: The name that the program asked for; empty if it used an address.
        address: The address that was connected to; empty: none.
        port: Port.
        protocol: "tls", "http", "tcp" or "dns".
        allowed: Whether it was allowed.
        code: As in NetworkExplanation, or another reason of the same form.
        reason: The decision as a sentence.
        rule: Index in the `rules` of the policy in force at its start; -1: no rule decided, or a
            request or a name was refused.
        sent_bytes: Bytes that the sandbox sent.
        received_bytes: Bytes that the sandbox received.
        opened_at: Time of its start.
        closed_at: Time of its end; absent: it is open.
        count: Number of equal attempts that were refused; 1 for a connection.
    """

    sequence: int = 0
    host: str = ""
    address: str = ""
    port: int = 0
    protocol: str = ""
    allowed: bool = False
    code: str = ""
    reason: str = ""
    rule: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    opened_at: datetime = _EPOCH
    closed_at: Optional[datetime] = None
    count: int = 0


@dataclasses.dataclass(frozen=True)
class NetworkEvent:
    """An event of the network of a sandbox. It carries a `connection`, or one of `lost`, `end` and
    `keepalive`.

    Attributes:
        sequence: Number of the event, which increases within a sandbox: with `after` a watch
            goes on behind it. Messages without a
            connection have that of the event before them.
        kind: "opened", "closed" or "refused"; empty without a connection. Equal refusals are one
            event in each second.
        connection: The connection at this moment, or the attempt that was refused.
        lost: Events before the next one that are not kept any more: the reader was slower than
            they came. At the beginning of a
            watch with `after` this may count some that the caller has.
        end: The end of the network: the last event.
        keepalive: Sent every 15 seconds in which nothing else was sent.
    """

    sequence: int = 0
    kind: str = ""
    connection: Optional[Connection] = None
    lost: int = 0
    end: Optional[NetworkEnd] = None
    keepalive: bool = False


@dataclasses.dataclass(frozen=True)
class NetworkEnd:
    """Why there are no more events.

    Attributes:
        reason: "closed": the network is not open, or not any more.
    """

    reason: str = ""


@dataclasses.dataclass(frozen=True)
class NetworkPreset:
    """A named set of rules.

    Attributes:
        name: Name for `presets` of a policy.
        description: Purpose of the rules, as a sentence.
        rules: Rules of the preset.
    """

    name: str = ""
    description: str = ""
    rules: Tuple[NetworkRule, ...] = ()


@dataclasses.dataclass(frozen=True)
class OwnerLimits:
    """Limits of one owner. 0: no limit.

    Attributes:
        requests_per_second: Calls per second, of all keys of the owner together.
        request_burst: Calls at once after a pause; 0: as many as requests_per_second.
        commands: Commands that run at the same time.
        streams: Streams, uploads, downloads and exports at the same time.
        creates_per_minute: New sandboxes, forks, codebases, checkpoints and keys per minute.
        codebases: Codebases.
        stored_bytes: Bytes of the files of all codebases together.
        sandboxes: Sandboxes that are neither destroyed nor expired.
        memory_bytes: Memory of all sandboxes together, in bytes.
        cpu_quota: CPU time of all sandboxes together, in microseconds per 100,000: 200000 is two
            processors.
        delta_bytes: Bytes that all sandboxes together keep, running and stopped, with their
            checkpoints.
    """

    requests_per_second: Optional[int] = None
    request_burst: Optional[int] = None
    commands: Optional[int] = None
    streams: Optional[int] = None
    creates_per_minute: Optional[int] = None
    codebases: Optional[int] = None
    stored_bytes: Optional[int] = None
    sandboxes: Optional[int] = None
    memory_bytes: Optional[int] = None
    cpu_quota: Optional[int] = None
    delta_bytes: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class OwnerSettings:
    """The limits of an owner.

    Attributes:
        owner_id: The owner.
        set: The limits that were set for this owner.
        effective: All limits in force: those that were set, and the configured ones.
    """

    owner_id: str = ""
    set: Optional[OwnerLimits] = None
    effective: Optional[OwnerLimits] = None


@dataclasses.dataclass(frozen=True)
class PermissionRule:
    """One rule. For each path one rule wins: the highest priority; then FILE over DIRECTORY over
    GLOB; then the more
    specific pattern; then the more restrictive permission. A path that no rule matches has
    "none".

    Attributes:
        pattern: Matched from the codebase root; a leading "/" is optional.
        permission: Access that the rule grants.
        type: Syntax and meaning of the pattern.
        priority: Precedence over other rules; higher wins.
        scratch: What is written at these paths is kept and seen by the sandbox, and is no change
            of it: ListChanges, ExportChanges,
            Commit, automatic commits and Discard leave it out, unless they ask for it. Only with
            "write". A rule that is
            scratch wins over an otherwise equal one that is not. A `**` in its glob, except at
            the end, does not match `.git`.
        view: "redacted": files show placeholders in place of their values to programs and to
            callers with `as` "agent". Keys, comments
            and order stay; nothing can be changed, unless `on_write` says so. A file that its
            redactor cannot read is hidden as a whole. Only with
            "read". Empty: the contents as they are.
        on_write: With `view` or `contents` "redacted", what writing does. Empty or "refuse":
            nothing can be changed. "merge": programs can change,
            replace, rename and remove the files, with placeholders. A commit puts the values of
            the codebase's file at the same path
            in place of placeholders that are still at their keys; all others stay placeholders.
        redactor: With `view` or `contents` "redacted", how values are found: "dotenv", "json",
            "yaml", "ini", "netrc", "pem", "gitconfig",
            "tokens" (what looks like a token, in any text), or "all" (nothing is shown). Empty:
            by the name of the file.
        contents: The rule decides no permission, but what is shown of files that another rule
            lets be read; `permission` must be
            "none". "redacted": placeholders in place of secrets; what may be written
            can be, as with `on_write` "merge",
            unless that is "refuse". "kept": the contents as they are, which cannot be changed.
            "shown": as they are. Of several such rules one wins, by the same precedence. Empty:
            an ordinary rule.
    """

    pattern: str = ""
    permission: Permission = Permission.NONE
    type: PatternType = PatternType.GLOB
    priority: int = 0
    scratch: Optional[bool] = None
    view: Optional[str] = None
    on_write: Optional[str] = None
    redactor: Optional[str] = None
    contents: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class PermissionRules:
    """Rules in a short form: a list of patterns for each permission. The strictest list that
    matches a path decides, in the
    order none, view, redacted, read, scratch, write; the pattern "**" stands for all paths that
    no other pattern matches. A pattern
    without special characters is a path with everything below it, others are globs. A pattern in
    two lists, and one that
    can never decide because a stricter list matches all its paths, is refused. The sandbox's
    `permissions` show the rules
    that this stands for.

    Attributes:
        write: Every operation is allowed.
        read: The contents can be read; nothing can be changed.
        none: The paths do not exist for commands.
        scratch: Every operation is allowed, and what is written is no change of the sandbox. See
            PermissionRule.
        view: The paths are listed; their contents cannot be opened.
        redacted: The contents can be read with placeholders in place of values; nothing can be
            changed. See PermissionRule.
        shown: Contents that a preset redacts are shown as they are; the permission is that of
            the other lists. See PermissionRule.
    """

    write: Tuple[str, ...] = ()
    read: Tuple[str, ...] = ()
    none: Tuple[str, ...] = ()
    scratch: Tuple[str, ...] = ()
    view: Tuple[str, ...] = ()
    redacted: Tuple[str, ...] = ()
    shown: Tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class RuleWarning:
    """Something about the rules of a sandbox that is probably not meant.

    Attributes:
        code: "no_rules", "matches_nothing", "directory_only", "never_decides", "readable_secret"
            or "incomplete" (the codebase was
            too large to be examined completely).
        rule: Index in the sandbox's `permissions`; -1: the warning is not about one rule.
        path: The path that the warning is about; empty: none.
        message: The warning as a sentence.
    """

    code: str = ""
    rule: int = 0
    path: str = ""
    message: str = ""


@dataclasses.dataclass(frozen=True)
class MatchingRule:
    """A rule that matches a path.

    Attributes:
        index: Index in the sandbox's `permissions`.
        rule: The rule.
    """

    index: int = 0
    rule: Optional[PermissionRule] = None


@dataclasses.dataclass(frozen=True)
class PermissionExplanation:
    """Permission of a path, with the rules that decide it.

    Attributes:
        path: Path from the codebase root.
        permission: Permission of the path.
        winner: The rule that wins; absent: no rule matches.
        beaten: The other rules that match, best first.
        pass_through: True if the path itself is hidden, but a directory there can be traversed
            because paths below it can be visible.
        reason: The decision as a sentence.
    """

    path: str = ""
    permission: Permission = Permission.NONE
    winner: Optional[MatchingRule] = None
    beaten: Tuple[MatchingRule, ...] = ()
    pass_through: bool = False
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class RefusedPath:
    """A path at which the rules refused what a command tried.

    Attributes:
        path: Path from the codebase root. Of a name that could not be made in a directory, it
            may be the directory.
        code: "hidden", "not_readable", "read_only", "placeholders" (they cannot be written), or
            "protected": what would be moved or
            removed with it.
        reason: The reason as a sentence.
        rule: The rule that decides; absent: no rule matches, or those of other paths decide.
        count: Number of times.
    """

    path: str = ""
    code: str = ""
    reason: str = ""
    rule: Optional[MatchingRule] = None
    count: int = 0


@dataclasses.dataclass(frozen=True)
class Preset:
    """A named set of rules.

    Attributes:
        name: Name for the `preset` field of requests.
        description: Purpose of the rules, as a sentence.
        permissions: Rules of the preset.
    """

    name: str = ""
    description: str = ""
    permissions: Tuple[PermissionRule, ...] = ()


@dataclasses.dataclass(frozen=True)
class OpenPortResponse:
    """Response of OpenPort.

    Attributes:
        sandbox_id: The sandbox.
        port: Number of the port.
        url: See OpenedPort.
        access: "key" or "link".
        link_token: With access "link": the secret for `url`, as its query parameter
            `paddock_token`. No other answer has it.
        expires_at: Time when it is closed; absent: never.
        created_at: Time when it was opened.
    """

    sandbox_id: str = ""
    port: int = 0
    url: str = ""
    access: str = ""
    link_token: str = ""
    expires_at: Optional[datetime] = None
    created_at: datetime = _EPOCH


@dataclasses.dataclass(frozen=True)
class OpenedPort:
    """An opened port.

    Attributes:
        sandbox_id: The sandbox.
        port: Number of the port.
        url: Where HTTP servers on the port are reached: a URL if the server has a
            `preview_domain`, otherwise a path of this service.
        access: "key" or "link".
        expires_at: Time when it is closed; absent: never.
        created_at: Time when it was opened.
    """

    sandbox_id: str = ""
    port: int = 0
    url: str = ""
    access: str = ""
    expires_at: Optional[datetime] = None
    created_at: datetime = _EPOCH


@dataclasses.dataclass(frozen=True)
class ListPortsResponse:
    """Response of ListPorts.

    Attributes:
        ports: The opened ports.
        listening: Ports on which programs of the sandbox listen, opened or not, in ascending
            order; see WaitPort for more about them.
    """

    ports: Tuple[OpenedPort, ...] = ()
    listening: Tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class TerminalSize:
    """Size of a terminal.

    Attributes:
        columns: Characters in a line: 1 to 1000. At the start of a process 0 is 80.
        rows: Lines: 1 to 1000. At the start of a process 0 is 24.
    """

    columns: int = 0
    rows: int = 0


@dataclasses.dataclass(frozen=True)
class Process:
    """A process.

    Attributes:
        sandbox_id: Sandbox that runs it.
        process_id: Id, unique in the sandbox.
        command: Its shell command; empty with `argv`.
        argv: Its program and arguments.
        workdir: Its working directory, as requested.
        labels: Its labels.
        started_at: Time of its start.
        ended_at: Time of its end; absent while it runs.
        end: Its end; absent while it runs.
        output_next: Bytes of output written so far; the offset of the next byte.
        output_first: Offset of the first byte that is still kept.
        input_next: Bytes of input taken so far; the offset of the next byte.
        stdin_open: Whether its standard input is open for WriteProcessInput.
        terminal: Size of its terminal; absent without one.
    """

    sandbox_id: str = ""
    process_id: str = ""
    command: str = ""
    argv: Tuple[str, ...] = ()
    workdir: str = ""
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    started_at: datetime = _EPOCH
    ended_at: Optional[datetime] = None
    end: Optional[ProcessEnd] = None
    output_next: int = 0
    output_first: int = 0
    input_next: int = 0
    stdin_open: bool = False
    terminal: Optional[TerminalSize] = None


@dataclasses.dataclass(frozen=True)
class ProcessEnd:
    """The end of a process.

    Attributes:
        reason: - "exited": it ended by itself, with `exit_code`
            - "signaled": a signal ended it; a shell's exit code of 128+N counts as signal N
            - "timeout": its timeout was over
            - "out_of_memory": the sandbox's memory limit ended it
            - "killed": SignalProcess with SIGKILL, or DeleteProcess
            - "sandbox_stopped": its sandbox was stopped or destroyed
            - "sandbox_lost": its sandbox failed, or the server was restarted
        exit_code: Exit code; 128+N if signal N ended it; -1 if it is not known.
        signal: Number of the signal that ended it; otherwise 0.
        duration_ms: Run time in milliseconds.
        denied: Connections of the sandbox that were refused while the process ran, by this
            process or another one: at most 50 names
            or addresses with their ports, each once. Absent: none.
    """

    reason: str = ""
    exit_code: int = 0
    signal: int = 0
    duration_ms: int = 0
    denied: Optional[DeniedHosts] = None


@dataclasses.dataclass(frozen=True)
class ProcessOutput:
    """A part of the output of a process.

    Attributes:
        stream: Stream that the bytes were written to: "stdout", "stderr" or "terminal".
        offset: Offset of the first byte.
        data: The bytes.
    """

    stream: str = ""
    offset: int = 0
    data: bytes = b""


@dataclasses.dataclass(frozen=True)
class ReadProcessOutputResponse:
    """Response of ReadProcessOutput.

    Attributes:
        gap: Bytes between the requested offset and the first returned byte that are no longer
            kept.
        output: Output in the order of the offsets.
        next: Offset for the next call.
        end: The end of the process, if all of its output has been returned.
    """

    gap: int = 0
    output: Tuple[ProcessOutput, ...] = ()
    next: int = 0
    end: Optional[ProcessEnd] = None


@dataclasses.dataclass(frozen=True)
class ProcessEvent:
    """An event of a process. It carries output (`data`), or one of `gap`, `end`, `keepalive` and
    `attached`.

    Attributes:
        data: Next bytes of the output.
        stream: Stream that the bytes were written to: "stdout", "stderr" or "terminal"; empty
            without output.
        next: Offset after this event: a reader that starts there continues with the next one.
        gap: Bytes before the next output that are no longer kept.
        end: The end of the process: the last event.
        keepalive: Sent every 15 seconds in which nothing else was sent.
        attached: The first event of AttachProcess, and of no other.
    """

    data: bytes = b""
    stream: str = ""
    next: int = 0
    gap: int = 0
    end: Optional[ProcessEnd] = None
    keepalive: bool = False
    attached: Optional[Attached] = None


@dataclasses.dataclass(frozen=True)
class Attached:
    """How a caller is attached to a process.

    Attributes:
        terminal: Whether the process has a terminal.
        writer: Whether this caller may write.
        offset: End of the output at this moment: output before it is a replay.
    """

    terminal: bool = False
    writer: bool = False
    offset: int = 0


@dataclasses.dataclass(frozen=True)
class WriteProcessInputResponse:
    """Response of WriteProcessInput.

    Attributes:
        input_next: Bytes of input taken so far: the offset of the next byte.
    """

    input_next: int = 0


@dataclasses.dataclass(frozen=True)
class ListeningPort:
    """A TCP port on which a program of a sandbox listens.

    Attributes:
        port: Number of the port.
        address: Address that it is bound to, for example "127.0.0.1", "0.0.0.0" or "::".
        pid: Id inside the sandbox of a process that has the socket; 0 if it is not known.
        program: Name of that process's program, at most 15 bytes; empty if it is not known.
        process_id: Process (see StartProcess) that it belongs to; empty for a command of Exec or
            a session.
    """

    port: int = 0
    address: str = ""
    pid: int = 0
    program: str = ""
    process_id: str = ""


@dataclasses.dataclass(frozen=True)
class WaitPortResponse:
    """Response of WaitPort.

    Attributes:
        listening: Whether the port (with `port` 0: any port) is listened on. False if that was
            not so within `wait`.
        ports: The ports, in the order of their numbers.
    """

    listening: bool = False
    ports: Tuple[ListeningPort, ...] = ()


@dataclasses.dataclass(frozen=True)
class ResourceLimits:
    """Limits of a sandbox. 0: no limit; in a request: the server's default.

    Attributes:
        memory_bytes: Memory of all processes together in bytes.
        cpu_quota: CPU time in microseconds per 100 000 microseconds: 150000 is one and a half
            processors.
        cpu_shares: Relative CPU weight; 1024 is one share.
        pids_limit: Number of processes and threads.
    """

    memory_bytes: int = 0
    cpu_quota: int = 0
    cpu_shares: int = 0
    pids_limit: int = 0


@dataclasses.dataclass(frozen=True)
class Sandbox:
    """An isolated environment attached to a codebase.

    Attributes:
        id: Identifier: "sb_", then letters and digits.
        codebase_id: Codebase that the sandbox works on.
        status: State of the sandbox.
        permissions: Rules in force.
        labels: Labels; see UpdateSandbox.
        created_at: Time of creation.
        expires_at: Time at which the sandbox expires: from then on it refuses commands, and
            `on_expire` happens; absent: never.
        runtime: Mechanism that isolates the sandbox.
        image: Container image, or with "bwrap" the id of an image of the server; empty:
            the host's system.
        resources: Limits in force.
        status_reason: Reason for "error", or for the last restart of the sandbox by the
            server itself; empty otherwise.
        auto_commit: "never", "on_exec" or "on_stop".
        auto_commit_error: Reason why the last automatic commit failed; empty: it succeeded, or
            there was none.
        auto_commit_stopped: True after an automatic commit met a conflict: no automatic commit
            is made until a Commit or Discard succeeds.
        owner_id: Owner of the sandbox: that of its codebase; may be empty.
        idle_timeout: Time without use after which `on_idle` happens; 0: never. Every call that
            names the sandbox is use, until its
            answer was sent: commands, streams, uploads and downloads for their whole duration.
            Lists are not.
        on_idle: "stop": a running sandbox is stopped, as by StopSandbox. "destroy": the sandbox
            is destroyed in every state, as by
            DestroySandbox.
        shell: Shell of its commands, processes and sessions that name none; empty: sh, and bash
            for sessions.
        env: Environment variables of its commands, processes and sessions, under those of each
            request.
        workdir: Working directory of its commands, processes and sessions that name none; empty:
            /workspace.
        on_expire: What happens at `expires_at`. "keep_changes": the sandbox is stopped if it has
            uncommitted changes or checkpoints, and
            destroyed otherwise. "stop": it is stopped. "destroy": it is destroyed. See
            docs/life-cycle.md.
        expires_soon: True from an hour before `expires_at` on, also once the sandbox has
            expired.
        destroy_at: Time at which the sandbox is destroyed, after it expired and was stopped
            instead; absent: it was not, or it is never
            destroyed.
        network: What its commands can connect to. See NetworkService.
        secrets: Secrets that its commands can use by placeholders.
        warnings: What is probably not meant in the rules, in the answers of CreateSandbox,
            UpdatePermissions and Fork: at most 50. In
            other answers empty.
        read_only_paths: Directories and files of the host that its commands see read-only at the
            same paths.
        workspace_path: Where its commands see the workspace, too, beside /workspace; empty:
            nowhere.
    """

    id: str = ""
    codebase_id: str = ""
    status: SandboxStatus = SandboxStatus.PENDING
    permissions: Tuple[PermissionRule, ...] = ()
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    created_at: datetime = _EPOCH
    expires_at: Optional[datetime] = None
    runtime: Runtime = Runtime.BWRAP
    image: str = ""
    resources: Optional[ResourceLimits] = None
    status_reason: str = ""
    auto_commit: str = ""
    auto_commit_error: str = ""
    auto_commit_stopped: bool = False
    owner_id: str = ""
    idle_timeout: timedelta = timedelta()
    on_idle: str = ""
    shell: str = ""
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)
    workdir: str = ""
    on_expire: str = ""
    expires_soon: bool = False
    destroy_at: Optional[datetime] = None
    network: Optional[NetworkPolicy] = None
    secrets: Tuple[SandboxSecret, ...] = ()
    warnings: Tuple[RuleWarning, ...] = ()
    read_only_paths: Tuple[str, ...] = ()
    workspace_path: str = ""


@dataclasses.dataclass(frozen=True)
class SecretBinding:
    """A secret that a new sandbox is to be bound to: a stored one of its owner, or a value of a
    redacted file.

    Attributes:
        name: Name of the stored secret.
        variable: Environment variable that has the placeholder in commands, processes and
            sessions.
        hosts: Hosts that the sandbox may use the secret for, each within those of the secret;
            none: those of the secret, also after
            they change.
        shape: What the placeholder begins with; empty: as the secret says. See PutSecretRequest.
        source: "redacted": the value of `key` in the file at `path`, which a rule with `view`
            "redacted" shows with the placeholder.
            `hosts` must be set, and `name`, `variable` and `shape` be empty. Empty: a stored
            secret.
        path: Path of the redacted file from the root of the workspace.
        key: Key of the value, as PreviewFile shows it.
    """

    name: str = ""
    variable: str = ""
    hosts: Tuple[str, ...] = ()
    shape: str = ""
    source: Optional[str] = None
    path: Optional[str] = None
    key: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class SandboxSecret:
    """A secret that a sandbox is bound to.

    Attributes:
        name: Name of the secret.
        variable: Environment variable with the placeholder.
        hosts: Hosts that the sandbox may use the secret for, if also the secret allows them;
            none: those of the secret.
        placeholder: What commands have in place of the value. It is no secret: it is only of use
            in this sandbox. Empty with `path`.
        path: Path of the redacted file that has the placeholder; empty: a stored secret.
        key: Key of the value in that file.
    """

    name: str = ""
    variable: str = ""
    hosts: Tuple[str, ...] = ()
    placeholder: str = ""
    path: Optional[str] = None
    key: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class ForkError:
    """Error of one new sandbox.

    Attributes:
        code: gRPC status code.
        message: The reason as a sentence.
    """

    code: int = 0
    message: str = ""


@dataclasses.dataclass(frozen=True)
class ForkResult:
    """Result for one new sandbox; exactly one field is set.

    Attributes:
        sandbox: The new sandbox, "running".
        error: Error that prevented its creation.
    """

    sandbox: Optional[Sandbox] = None
    error: Optional[ForkError] = None


@dataclasses.dataclass(frozen=True)
class ForkResponse:
    """Response of Fork.

    Attributes:
        results: One result for each requested sandbox.
    """

    results: Tuple[ForkResult, ...] = ()


@dataclasses.dataclass(frozen=True)
class Secret:
    """A secret without its value.

    Attributes:
        name: Name, unique among those of its owner.
        owner_id: Owner; empty: none.
        hosts: Hosts that the value may be sent to: names ("api.github.com") and all names below
            one ("*.example.org").
        parts: Parts of a request in which the placeholder is replaced: "header", "query",
            "body".
        shape: Shape of its placeholders; see PutSecretRequest.
        keep_length: The placeholders have the length that the value had at their creation.
        created_at: Time of creation.
        updated_at: Time of the last PutSecret.
        revision: Number of values that the secret has had; 1 at first.
        used_by: Sandboxes that are bound to the secret.
        header: The one header in which the placeholder is replaced; absent: every header, if
            `parts` has "header".
    """

    name: str = ""
    owner_id: str = ""
    hosts: Tuple[str, ...] = ()
    parts: Tuple[str, ...] = ()
    shape: str = ""
    keep_length: bool = False
    created_at: datetime = _EPOCH
    updated_at: datetime = _EPOCH
    revision: int = 0
    used_by: Tuple[str, ...] = ()
    header: Optional[str] = None
