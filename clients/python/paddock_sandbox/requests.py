"""What the operations of the service take beside what they must be given, as keyword arguments.

Generated from proto/service/v1 and handlers/index.ts by `npm run generate`; do not edit.
None stands for what is left out. A message can also be a dictionary of its fields.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence, TypedDict

from ._duration import Duration
from .messages import (
    ChosenHunks,
    NetworkPolicy,
    NetworkRule,
    OwnerLimits,
    PermissionRule,
    PermissionRules,
    ResourceLimits,
    Runtime,
    SandboxStatus,
    SecretBinding,
    TerminalSize,
)


class CallOptions(TypedDict, total=False):
    """What every operation takes."""

    #: Time without any byte of an answer after which the call fails; for commands the time until they are killed.
    timeout: Duration
    #: Repetitions of the call at most; 0: none.
    max_retries: int | None


class CreateCodebaseRequest(CallOptions, total=False):
    """Of CreateCodebase."""

    #: User who owns the codebase; empty counts as one user. With keys, empty is the key's own owner, and only admins
    #: may name another.
    owner_id: str | None
    #: Chosen at random if it is left out.
    idempotency_key: str | None


class ListCodebasesRequest(CallOptions, total=False):
    """Of ListCodebases."""

    #: Only codebases of this owner; empty: of every owner whose codebases the caller may use.
    owner_id: str | None


class UploadFileRequest(CallOptions, total=False):
    """Of UploadFile."""

    #: Permission bits; 0: 0644. Read from the first message.
    mode: int | None
    #: Target of a symlink that is stored instead of a file; then there are no contents and no mode. Read from the first
    #: message. Empty: a file.
    symlink_target: str | None


class ListFilesRequest(CallOptions, total=False):
    """Of ListFiles."""

    #: List everything below the directory instead of its own entries only.
    recursive: bool | None


class ImportCodebaseFilesRequest(CallOptions, total=False):
    """Of ImportCodebaseFiles."""

    #: "replace": the codebase has exactly the archive afterwards; "merge" or empty: files that the archive does not
    #: name are kept; "update": as "merge", but a member of another type replaces a file or a directory, and an empty
    #: file ".wh.NAME" removes NAME, as in layers of OCI images.
    mode: str | None
    #: "tar" or empty.
    format: str | None
    #: Only if the codebase has this revision: otherwise ABORTED, and nothing is changed. Empty: in any case.
    if_revision: str | None


class ExportCodebaseFilesRequest(CallOptions, total=False):
    """Of ExportCodebaseFiles."""

    #: "tar" or empty.
    format: str | None


class CreateKeyRequest(CallOptions, total=False):
    """Of CreateKey."""

    #: Owner of a key of role owner; empty: the caller's own. Only admins may name another.
    owner_id: str | None
    #: Sandbox of a key of role agent.
    sandbox_id: str | None
    #: Scopes that restrict the key further; none: all that its role may do.
    scopes: Sequence[str] | None
    #: Seconds until the key expires; 0: never.
    expires_in: Duration
    #: Chosen at random if it is left out.
    idempotency_key: str | None


class ListKeysRequest(CallOptions, total=False):
    """Of ListKeys."""

    #: Only keys of this owner; empty: of every owner (admins), or of the caller's own.
    owner_id: str | None


class UpdateNetworkRequest(CallOptions, total=False):
    """Of UpdateNetwork."""

    #: As in NetworkPolicy: all rules of the new policy.
    rules: Sequence[NetworkRule | Mapping[str, Any]] | None
    #: As in NetworkPolicy.
    presets: Sequence[str] | None
    #: Revision of the policy that is replaced; 0: whatever it is.
    revision: int | None


class ExplainNetworkRequest(CallOptions, total=False):
    """Of ExplainNetwork."""

    #: Method of an HTTP request, for rules with `methods`; empty: the connection itself.
    method: str | None


class WatchNetworkRequest(CallOptions, total=False):
    """Of WatchNetwork."""

    #: `sequence` of the last event that the caller has; 0: none.
    after: int | None
    #: Only what is refused.
    denied_only: bool | None


class SetOwnerLimitsRequest(CallOptions, total=False):
    """Of SetOwnerLimits."""

    #: The limits that differ from the configured ones; an absent field: as configured.
    limits: OwnerLimits | Mapping[str, Any] | None


class OpenPortRequest(CallOptions, total=False):
    """Of OpenPort."""

    #: Who may use it: "key", callers with a key that may run commands in the sandbox; "link", also everybody who has
    #: the link token of the answer. Empty: "key".
    access: str | None
    #: Seconds until it is closed; 0: never.
    expires_in: Duration


class ListPortsRequest(CallOptions, total=False):
    """Of ListPorts."""

    #: Has no effect. Over REST this parameter selects ListPorts; without it the path is that of WaitPort.
    opened: bool | None
    #: List also the ports on which programs listen. FAILED_PRECONDITION if the sandbox does not run.
    listening: bool | None


class StartProcessRequest(CallOptions, total=False):
    """Of StartProcess."""

    #: Environment variables, in addition to the sandbox's own, over which they take precedence.
    env: Mapping[str, str] | None
    #: Working directory; a relative path starts at /workspace. Empty: the sandbox's `workdir`, or /workspace.
    workdir: str | None
    #: Keep standard input open for WriteProcessInput. Otherwise it is empty.
    stdin: bool | None
    #: Give the process a terminal of this size as standard input, output and error; none if this is absent.
    #: FAILED_PRECONDITION if the sandbox has no program that can make one.
    terminal: TerminalSize | Mapping[str, Any] | None
    #: Labels of the process.
    labels: Mapping[str, str] | None
    #: Shell that runs `command`; see ExecRequest.
    shell: str | None
    #: Standard output and error are one stream, "stdout", in the order in which they were written. No effect with a
    #: terminal.
    merge: bool | None


class ListProcessesRequest(CallOptions, total=False):
    """Of ListProcesses."""

    #: Only processes with all of these labels, with these values.
    labels: Mapping[str, str] | None
    #: Only processes that run.
    running: bool | None


class ResizeTerminalRequest(CallOptions, total=False):
    """Of ResizeTerminal."""

    #: Characters in a line: 1 to 1000.
    columns: int | None
    #: Lines: 1 to 1000.
    rows: int | None


class ReadProcessOutputRequest(CallOptions, total=False):
    """Of ReadProcessOutput."""

    #: Offset of the first byte to return. INVALID_ARGUMENT above `output_next`.
    offset: int | None
    #: Maximum number of bytes to return, up to 1 MiB; 0: 64 KiB.
    max_bytes: int | None
    #: Milliseconds to wait for output or the end if there is none yet, up to 60000.
    wait: Duration


class WatchProcessRequest(CallOptions, total=False):
    """Of WatchProcess."""

    #: Offset of the first byte to send. INVALID_ARGUMENT above `output_next`.
    offset: int | None


class WriteProcessInputRequest(CallOptions, total=False):
    """Of WriteProcessInput."""

    #: Offset of the first byte in the whole input, so that a repeated request writes nothing twice: bytes before
    #: `input_next` are skipped. INVALID_ARGUMENT above it. Absent: append.
    offset: int | None
    #: Close standard input after the last byte. Sends ^D to a terminal.
    end: bool | None


class WaitPortRequest(CallOptions, total=False):
    """Of WaitPort."""

    #: Milliseconds to wait until it (with `port` 0: any port) is listened on, up to 600000.
    wait: Duration
    #: Has no effect: all ports in the answer are listened on.
    listening: bool | None


class CreateSandboxRequest(CallOptions, total=False):
    """Of CreateSandbox."""

    #: Rules, in addition to those of `preset`. No rule at all hides everything.
    permissions: Sequence[PermissionRule | Mapping[str, Any]] | None
    #: Labels: at most 64, with keys of up to 128 and values of up to 1024 characters.
    labels: Mapping[str, str] | None
    #: Seconds until the sandbox expires; 0: the server's default.
    expires_in: Duration
    #: Mechanism that isolates the sandbox; absent: the server's runtime.type.
    runtime: Runtime | str | None
    #: With "docker" a container image, empty: the server's default. With "bwrap" the name or id of an image
    #: of the server (see ImageService), empty: the host's system.
    image: str | None
    #: Limits; a value of 0 takes the server's default.
    resources: ResourceLimits | Mapping[str, Any] | None
    #: Name of a preset (see ListPresets) that `permissions` extend; empty: none.
    preset: str | None
    #: Time of automatic commits: "on_exec" (before the answer of each command, and as "on_stop"), "on_stop" (when the
    #: sandbox is stopped, destroyed or expires), "never" or empty. They never overwrite a conflicting version.
    auto_commit: str | None
    #: Seconds without use after which `on_idle` happens; 0: never. See Sandbox.
    idle_timeout: Duration
    #: "stop" or empty, or "destroy". See Sandbox.
    on_idle: str | None
    #: Shell of commands, processes and sessions that name none: "sh", "bash", or another name in the sandbox's PATH, or
    #: an absolute path. Empty: sh, and for sessions bash, or sh if there is none.
    shell: str | None
    #: Environment variables of commands, processes and sessions. Those of a request take precedence. Commands can read
    #: them, and whoever may see the sandbox. At most 256 variables and 64 KiB in all, each with "=" and NUL.
    env: Mapping[str, str] | None
    #: Working directory of commands, processes and sessions that name none; a relative path starts at /workspace.
    #: Empty: /workspace. It may be created later.
    workdir: str | None
    #: "keep_changes", "stop" or "destroy"; empty: the server's default. See Sandbox.
    on_expire: str | None
    #: What its commands can connect to; absent: nothing. FAILED_PRECONDITION if the server or the runtime has no
    #: networks.
    network: NetworkPolicy | Mapping[str, Any] | None
    #: Secrets of the codebase's owner that commands can use by placeholders; `network` must be set. At most 64.
    secrets: Sequence[SecretBinding | Mapping[str, Any]] | None
    #: Rules in a short form, in addition to those of `preset`; `permissions` must be empty then.
    rules: PermissionRules | Mapping[str, Any] | None
    #: Directories and files of the host, for example of tools, that commands see read-only at the same paths, as far as
    #: their mode bits let other users read them. Each is at or below one of the server's runtime.mountable_paths. Only
    #: for "bwrap" without an image.
    read_only_paths: Sequence[str] | None
    #: Absolute path at which commands see the workspace, too, beside /workspace: where it is on the caller's machine.
    #: Only for "bwrap" without an image.
    workspace_path: str | None
    #: Chosen at random if it is left out.
    idempotency_key: str | None


class GetSandboxRequest(CallOptions, total=False):
    """Of GetSandbox."""

    #: "owner" or empty: everything; "agent": only what the rules show to the sandbox's commands. A key of role agent
    #: sees what "agent" shows.
    as_: str | None


class ListSandboxesRequest(CallOptions, total=False):
    """Of ListSandboxes."""

    #: Only sandboxes of this codebase; empty: of every codebase.
    codebase_id: str | None
    #: Only sandboxes of this owner; empty: of every owner whose sandboxes the caller may use.
    owner_id: str | None
    #: Only sandboxes in this state; absent: in every state.
    status: SandboxStatus | str | None
    #: Only sandboxes that have all these labels, with these values. In a REST query: labels.<key>=<value> for each.
    labels: Mapping[str, str] | None


class UpdateSandboxRequest(CallOptions, total=False):
    """Of UpdateSandbox."""

    #: Labels to add, or whose values are replaced. The sandbox may then have at most 64. In a merge patch null removes
    #: a label.
    labels: Mapping[str, str | None] | None
    #: Keys of labels to remove; a key that the sandbox does not have changes nothing. None may be in `labels`.
    remove_labels: Sequence[str] | None
    #: Remove all labels, before those of `labels` are added. In a merge patch: null instead of the map of labels.
    clear_labels: bool | None
    #: Seconds from now until the sandbox expires; 0, and null in a merge patch: the server's default. Absent: the time
    #: of expiry is not changed.
    expires_in: Duration
    #: Seconds without use after which `on_idle` happens; 0, and null in a merge patch: never. Absent: not changed.
    idle_timeout: Duration
    #: "stop" or "destroy"; empty, and null in a merge patch: "stop". Absent: not changed.
    on_idle: str | None
    #: Environment variables to add, or whose values are replaced, for what is started from now on. The limits of
    #: CreateSandbox apply to the result. In a merge patch null removes a variable.
    env: Mapping[str, str | None] | None
    #: Names of variables to remove; one that the sandbox does not have changes nothing. None may be in `env`.
    remove_env: Sequence[str] | None
    #: Remove all variables, before those of `env` are added. In a merge patch: null instead of the map.
    clear_env: bool | None
    #: As in CreateSandboxRequest; empty, and null in a merge patch: none. Absent: not changed.
    shell: str | None
    #: As in CreateSandboxRequest; empty, and null in a merge patch: /workspace. Absent: not changed.
    workdir: str | None
    #: "keep_changes", "stop" or "destroy"; empty, and null in a merge patch: the server's default. Absent: not changed.
    on_expire: str | None


class DestroySandboxRequest(CallOptions, total=False):
    """Of DestroySandbox."""

    #: Do not commit automatically: uncommitted changes are lost.
    discard: bool | None


class ExecRequest(CallOptions, total=False):
    """Of ExecStream."""

    #: Standard input.
    stdin: str | bytes | None
    #: Environment variables, in addition to the sandbox's own, over which they take precedence.
    env: Mapping[str, str] | None
    #: Working directory; a relative path starts at /workspace. Empty: the sandbox's `workdir`, or /workspace.
    workdir: str | None
    #: Shell that runs `command`: "sh", "bash", or another name in the sandbox's PATH, or an absolute path. It must take
    #: -c as a POSIX shell does. FAILED_PRECONDITION if the sandbox has none. Empty: the sandbox's `shell`, or /bin/sh.
    shell: str | None
    #: Exec only. Bytes of output to keep, of both streams together, at most the server's limit: the beginning and the
    #: end of each stream that is longer than its part, with a line between them that tells how many bytes were left
    #: out. A stream that needs less than half of it leaves the rest to the other one. 0: the beginning, up to the
    #: server's limit for each stream.
    max_output: int | None
    #: Standard output and error are one stream, in the order in which they were written: `output` of ExecResponse, with
    #: ExecStream STDOUT.
    merge: bool | None


class CreateSessionRequest(CallOptions, total=False):
    """Of CreateSession."""

    #: Name of a shell in the sandbox's PATH, or its absolute path. It must run commands as a POSIX shell does. Empty:
    #: the sandbox's `shell`, or bash, or sh if there is none.
    shell: str | None
    #: Environment variables of the shell, in addition to the sandbox's own, over which they take precedence.
    env: Mapping[str, str] | None


class SessionExecRequest(CallOptions, total=False):
    """Of SessionExecStream."""

    #: SessionExec only. See ExecRequest.
    max_output: int | None
    #: See ExecRequest.
    merge: bool | None


class UpdatePermissionsRequest(CallOptions, total=False):
    """Of UpdatePermissions."""

    #: New rules, in addition to those of `preset`. No rule at all hides everything.
    permissions: Sequence[PermissionRule | Mapping[str, Any]] | None
    #: Name of a preset (see ListPresets) that `permissions` extend; empty: none.
    preset: str | None
    #: Rules in a short form, in addition to those of `preset`; `permissions` must be empty then.
    rules: PermissionRules | Mapping[str, Any] | None


class ExplainPermissionRequest(CallOptions, total=False):
    """Of ExplainPermission."""

    #: "owner" or empty: everything; "agent": only what the rules show to the sandbox's commands. A key of role agent
    #: sees what "agent" shows.
    as_: str | None


class ListChangesRequest(CallOptions, total=False):
    """Of ListChanges."""

    #: "owner" or empty: everything; "agent": only what the rules show to the sandbox's commands. A key of role agent
    #: sees what "agent" shows.
    as_: str | None
    #: Globs, as in rules: changes at the paths that one matches, and everything below them, are left out.
    exclude: Sequence[str] | None
    #: List what was written at scratch paths, too.
    include_scratch: bool | None
    #: Compare modified files by lines: `diff` of their changes. A page ends early once it has 1 MiB of hunks.
    diff: bool | None
    #: For a client that brings changes to a local directory: `local` of the changes. A page ends early once files of
    #: 256 MiB were read. Not for a key of role agent, nor with "agent".
    local: bool | None


class ExportChangesRequest(CallOptions, total=False):
    """Of ExportChanges."""

    #: "owner" or empty: everything; "agent": only what the rules show to the sandbox's commands. A key of role agent
    #: sees what "agent" shows.
    as_: str | None
    #: Globs, as in rules: changes at the paths that one matches, and everything below them, are left out.
    exclude: Sequence[str] | None
    #: Export what was written at scratch paths, too.
    include_scratch: bool | None


class CommitRequest(CallOptions, total=False):
    """Of Commit."""

    #: Resolution of conflicts, which are paths whose version in the codebase is no longer the one that the sandbox
    #: started from. "ours": take the sandbox's version; "theirs": keep the codebase's; empty: commit nothing.
    on_conflict: str | None
    #: Only report what would be committed.
    dry_run: bool | None
    #: Globs, as in rules: changes at the paths that one matches, and everything below them, are left out.
    exclude: Sequence[str] | None
    #: Commit what was written at scratch paths, too.
    include_scratch: bool | None
    #: Modified or renamed text files of which only some hunks are committed; the others stay changes. These paths are
    #: chosen, too, a renamed file with the removal at its old path: without `paths` nothing else is.
    hunks: Sequence[ChosenHunks | Mapping[str, Any]] | None
    #: Chosen at random if it is left out.
    idempotency_key: str | None


class DiscardRequest(CallOptions, total=False):
    """Of Discard."""

    #: Globs, as in rules: changes at the paths that one matches, and everything below them, are left out.
    exclude: Sequence[str] | None
    #: Drop what was written at scratch paths, too.
    include_scratch: bool | None


class CreateCheckpointRequest(CallOptions, total=False):
    """Of CreateCheckpoint."""

    #: Chosen at random if it is left out.
    idempotency_key: str | None


class ForkRequest(CallOptions, total=False):
    """Of Fork."""

    #: Name of a checkpoint to start from; empty: the present state.
    checkpoint: str | None
    #: Rules, in addition to those of `preset`; neither: the rules of the forked sandbox.
    permissions: Sequence[PermissionRule | Mapping[str, Any]] | None
    #: Name of a preset (see ListPresets) that `permissions` extend; empty: none.
    preset: str | None
    #: Labels; none: those of the forked sandbox.
    labels: Mapping[str, str] | None
    #: Seconds until the new sandboxes expire; 0: the lifetime that the forked sandbox was given.
    expires_in: Duration
    #: Limits; a value of 0 takes that of the forked sandbox.
    resources: ResourceLimits | Mapping[str, Any] | None
    #: As in CreateSandboxRequest; empty: that of the forked sandbox.
    auto_commit: str | None
    #: As in CreateSandboxRequest; absent: that of the forked sandbox.
    idle_timeout: Duration
    #: As in CreateSandboxRequest; empty: that of the forked sandbox.
    on_idle: str | None
    #: As in CreateSandboxRequest; empty: that of the forked sandbox.
    shell: str | None
    #: Environment variables, as in CreateSandboxRequest; none: those of the forked sandbox.
    env: Mapping[str, str] | None
    #: As in CreateSandboxRequest; empty: that of the forked sandbox.
    workdir: str | None
    #: As in CreateSandboxRequest; empty: that of the forked sandbox.
    on_expire: str | None
    #: As in CreateSandboxRequest; absent: that of the forked sandbox.
    network: NetworkPolicy | Mapping[str, Any] | None
    #: As in CreateSandboxRequest; none: those of the forked sandbox. Each fork has placeholders of its own.
    secrets: Sequence[SecretBinding | Mapping[str, Any]] | None
    #: Rules in a short form, in addition to those of `preset`; `permissions` must be empty then. Without `permissions`,
    #: `preset` and `rules`: the rules of the forked sandbox.
    rules: PermissionRules | Mapping[str, Any] | None
    #: Chosen at random if it is left out.
    idempotency_key: str | None


class StatFileRequest(CallOptions, total=False):
    """Of StatFile."""

    #: "agent" or empty: as the sandbox's commands; "owner": without rules.
    as_: str | None


class ListDirectoryRequest(CallOptions, total=False):
    """Of ListDirectory."""

    #: "agent" or empty: as the sandbox's commands; "owner": without rules.
    as_: str | None
    #: List everything below the directory instead of its own entries only.
    recursive: bool | None


class ReadFileRequest(CallOptions, total=False):
    """Of ReadFile."""

    #: "agent" or empty: as the sandbox's commands; "owner": without rules.
    as_: str | None


class WriteFileRequest(CallOptions, total=False):
    """Of WriteFile."""

    #: "agent" or empty: as the sandbox's commands; "owner": without rules.
    as_: str | None
    #: Permission bits; 0: those of the file that is replaced, or 0644.
    mode: int | None


class MakeDirectoryRequest(CallOptions, total=False):
    """Of MakeDirectory."""

    #: "agent" or empty: as the sandbox's commands; "owner": without rules.
    as_: str | None
    #: Permission bits; 0: 0755.
    mode: int | None
    #: Create missing parent directories too, and succeed if the directory exists.
    parents: bool | None


class MoveFileRequest(CallOptions, total=False):
    """Of MoveFile."""

    #: "agent" or empty: as the sandbox's commands; "owner": without rules.
    as_: str | None
    #: Present path.
    from_: str | None
    #: New path.
    to: str | None
    #: Replace a file, or an empty directory, at the new path.
    replace: bool | None


class DeleteFileRequest(CallOptions, total=False):
    """Of DeleteFile."""

    #: "agent" or empty: as the sandbox's commands; "owner": without rules.
    as_: str | None
    #: Remove a directory with everything in it; nothing is removed if one entry may not be removed.
    recursive: bool | None


class ExportFilesRequest(CallOptions, total=False):
    """Of ExportFiles."""

    #: "agent" or empty: as the sandbox's commands; "owner": without rules.
    as_: str | None
    #: "tar" or empty.
    format: str | None


class ImportFilesRequest(CallOptions, total=False):
    """Of ImportFiles."""

    #: "agent" or empty: as the sandbox's commands; "owner": without rules.
    as_: str | None
    #: "tar" or empty.
    format: str | None


class PutSecretRequest(CallOptions, total=False):
    """Of PutSecret."""

    #: Owner of the secret; empty: the caller's own. Only admins may name another.
    owner_id: str | None
    #: Parts of a request in which the placeholder is replaced: "header", "query", "body"; none: "header".
    parts: Sequence[str] | None
    #: What the placeholders begin with, for programs that check the form of a value: "ghp_", "sk-", "AKIA". The length
    #: is that of such values, if the server knows them. Empty: "pdk_secret_", the name, and 16 hexadecimal digits.
    shape: str | None
    #: Make placeholders of the length of the value; it must be at least 16 characters longer than `shape`.
    keep_length: bool | None
    #: The one header in which the placeholder is replaced, in lower case ("x-api-key", "authorization"), also where it
    #: occurs several times; in other headers it stays as it is. `parts` must have "header", or be empty. Empty: every
    #: header.
    header: str | None


class GetSecretRequest(CallOptions, total=False):
    """Of GetSecret."""

    #: Owner of the secret; empty: the caller's own. Only admins may name another.
    owner_id: str | None


class ListSecretsRequest(CallOptions, total=False):
    """Of ListSecrets."""

    #: Only secrets of this owner; empty: of every owner (admins), or of the caller's own.
    owner_id: str | None


class DeleteSecretRequest(CallOptions, total=False):
    """Of DeleteSecret."""

    #: Owner of the secret; empty: the caller's own. Only admins may name another.
    owner_id: str | None
    #: Remove it although sandboxes are bound to it. Their placeholders are then refused.
    force: bool | None
