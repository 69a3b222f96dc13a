# Generated from _async/api.py by `npm run generate`; do not edit.
"""One method for each operation of the service.

Generated from proto/service/v1 and handlers/index.ts by `npm run generate`; do not edit.
"""

from __future__ import annotations

from typing import Generator, Sequence, Unpack

from .._duration import Duration
from .._http import Command, Content
from ..messages import (
    Caller,
    Checkpoint,
    Codebase,
    CommitResponse,
    Connection,
    CreatedKey,
    DeleteFileResponse,
    DiscardResponse,
    ExecResponse,
    ExecStreamChunk,
    FileChange,
    FileInfo,
    FileStat,
    ForkResponse,
    Image,
    ImportCodebaseFilesResponse,
    ImportFilesResponse,
    Key,
    ListPortsResponse,
    NetworkEvent,
    NetworkExplanation,
    NetworkPolicy,
    NetworkPreset,
    OpenPortResponse,
    OpenedPort,
    OwnerSettings,
    PermissionExplanation,
    Preset,
    PreviewFileResponse,
    Process,
    ProcessEvent,
    ReadProcessOutputResponse,
    RefusedPath,
    Sandbox,
    Secret,
    Session,
    Ticket,
    UploadFileResponse,
    WaitPortResponse,
    WriteProcessInputResponse,
)
from ..requests import (
    CallOptions,
    CommitRequest,
    CreateCheckpointRequest,
    CreateCodebaseRequest,
    CreateKeyRequest,
    CreateSandboxRequest,
    CreateSessionRequest,
    DeleteFileRequest,
    DeleteSecretRequest,
    DestroySandboxRequest,
    DiscardRequest,
    ExecRequest,
    ExplainNetworkRequest,
    ExplainPermissionRequest,
    ExportChangesRequest,
    ExportCodebaseFilesRequest,
    ExportFilesRequest,
    ForkRequest,
    GetSandboxRequest,
    GetSecretRequest,
    ImportCodebaseFilesRequest,
    ImportFilesRequest,
    ListChangesRequest,
    ListCodebasesRequest,
    ListDirectoryRequest,
    ListFilesRequest,
    ListKeysRequest,
    ListPortsRequest,
    ListProcessesRequest,
    ListSandboxesRequest,
    ListSecretsRequest,
    MakeDirectoryRequest,
    MoveFileRequest,
    OpenPortRequest,
    PutSecretRequest,
    ReadFileRequest,
    ReadProcessOutputRequest,
    ResizeTerminalRequest,
    SessionExecRequest,
    SetOwnerLimitsRequest,
    StartProcessRequest,
    StatFileRequest,
    UpdateNetworkRequest,
    UpdatePermissionsRequest,
    UpdateSandboxRequest,
    UploadFileRequest,
    WaitPortRequest,
    WatchNetworkRequest,
    WatchProcessRequest,
    WriteFileRequest,
    WriteProcessInputRequest,
)
from .calls import Calls
from .download import Download


class Api(Calls):
    """One method for each operation of the service, with the fields of its request."""

    def create_codebase(self, *, name: str, **options: Unpack[CreateCodebaseRequest]) -> Codebase:
        """Creates an empty codebase."""
        return self._message(Codebase, "CreateCodebase", {"name": name, **options})

    def get_codebase(self, *, codebase_id: str, **options: Unpack[CallOptions]) -> Codebase:
        """Returns one codebase with its file count and total size."""
        return self._message(Codebase, "GetCodebase", {"codebase_id": codebase_id, **options})

    def list_codebases(self, **options: Unpack[ListCodebasesRequest]) -> Generator[Codebase, None, None]:
        """Lists codebases, the newest first, page by page."""
        return self._list(Codebase, "ListCodebases", "codebases", options)

    def delete_codebase(self, *, codebase_id: str, **options: Unpack[CallOptions]) -> None:
        """Deletes a codebase and its files. FAILED_PRECONDITION, listing the sandboxes, while sandboxes use it."""
        self._call("DeleteCodebase", {"codebase_id": codebase_id, **options})

    def upload_file(
        self, content: Content, *, codebase_id: str, file_path: str, **options: Unpack[UploadFileRequest]
    ) -> UploadFileResponse:
        """Stores one file. The first message names the codebase and the path and may carry a chunk; later messages
        carry chunks. The file is stored completely or not at all.
        """
        request = {"codebase_id": codebase_id, "file_path": file_path, **options}
        return self._message(UploadFileResponse, "UploadFile", request, content)

    def download_file(self, *, codebase_id: str, file_path: str, **options: Unpack[CallOptions]) -> Download:
        """Returns the contents of one version of a file."""
        return Download(self, "DownloadFile", {"codebase_id": codebase_id, "file_path": file_path, **options})

    def list_files(
        self, *, codebase_id: str, path: str | None = None, **options: Unpack[ListFilesRequest]
    ) -> Generator[FileInfo, None, None]:
        """Lists files and directories in byte order of their paths, page by page."""
        return self._list(FileInfo, "ListFiles", "files", {"codebase_id": codebase_id, "path": path, **options})

    def remove_file(self, *, codebase_id: str, file_path: str, **options: Unpack[CallOptions]) -> None:
        """Removes one file. Directories that it leaves empty stay."""
        self._call("RemoveFile", {"codebase_id": codebase_id, "file_path": file_path, **options})

    def import_codebase_files(
        self, content: Content, *, codebase_id: str, **options: Unpack[ImportCodebaseFilesRequest]
    ) -> ImportCodebaseFilesResponse:
        """Unpacks an archive into the codebase, all or nothing. The first message names the codebase and the mode and
        may carry a chunk; later messages carry chunks. The archive is a tar (POSIX or GNU), plain or compressed with
        gzip or zstd, found by its first bytes. Permission bits, times, symlinks and hard links are kept.
        """
        request = {"codebase_id": codebase_id, **options}
        return self._message(ImportCodebaseFilesResponse, "ImportCodebaseFiles", request, content)

    def export_codebase_files(
        self, *, codebase_id: str, path: str | None = None, **options: Unpack[ExportCodebaseFilesRequest]
    ) -> Download:
        """Returns a directory of the codebase as one archive."""
        return Download(self, "ExportCodebaseFiles", {"codebase_id": codebase_id, "path": path, **options})

    def import_image(self, content: Content, *, name: str, **options: Unpack[CallOptions]) -> Image:
        """Stores an image from an archive: a tar of a file system, an OCI image layout, or what "docker save" writes;
        plain or compressed with gzip or zstd. The first message gives the name and may carry a chunk; later messages
        carry chunks. All or nothing. Importing an image again only adds the name. A name of another image becomes this
        one's.
        """
        return self._message(Image, "ImportImage", {"name": name, **options}, content)

    def get_image(self, *, image: str, **options: Unpack[CallOptions]) -> Image:
        """Returns one image."""
        return self._message(Image, "GetImage", {"image": image, **options})

    def list_images(self, **options: Unpack[CallOptions]) -> Generator[Image, None, None]:
        """Lists images by id, page by page."""
        return self._list(Image, "ListImages", "images", options)

    def delete_image(self, *, image: str, **options: Unpack[CallOptions]) -> None:
        """Deletes an image with all its names. FAILED_PRECONDITION, listing the sandboxes, while sandboxes use it."""
        self._call("DeleteImage", {"image": image, **options})

    def create_key(self, *, name: str, role: str, **options: Unpack[CreateKeyRequest]) -> CreatedKey:
        """Creates a key. The answer is the only one that has the key itself. A key cannot create one that may do more
        than itself. FAILED_PRECONDITION if authentication is off.
        """
        return self._message(CreatedKey, "CreateKey", {"name": name, "role": role, **options})

    def list_keys(self, **options: Unpack[ListKeysRequest]) -> Generator[Key, None, None]:
        """Lists keys in order of their identifiers, page by page."""
        return self._list(Key, "ListKeys", "keys", options)

    def revoke_key(self, *, key_id: str, **options: Unpack[CallOptions]) -> None:
        """Revokes a key. Calls that are in progress with it end with UNAUTHENTICATED."""
        self._call("RevokeKey", {"key_id": key_id, **options})

    def get_caller(self, **options: Unpack[CallOptions]) -> Caller:
        """Returns the rights of the caller itself."""
        return self._message(Caller, "GetCaller", options)

    def create_ticket(self, *, path: str, **options: Unpack[CallOptions]) -> Ticket:
        """Creates a ticket for one GET request over REST that reads a file or a stream, for clients that cannot send
        headers, as `?ticket=`. It has the rights of the caller's key. FAILED_PRECONDITION if authentication is off.
        """
        return self._message(Ticket, "CreateTicket", {"path": path, **options})

    def get_network(self, *, sandbox_id: str, **options: Unpack[CallOptions]) -> NetworkPolicy:
        """Returns the policy of a sandbox."""
        return self._message(NetworkPolicy, "GetNetwork", {"sandbox_id": sandbox_id, **options})

    def update_network(
        self, *, sandbox_id: str, mode: str, **options: Unpack[UpdateNetworkRequest]
    ) -> NetworkPolicy:
        """Replaces the policy of a sandbox, which may be running. In force when the call returns: connections that are
        no longer allowed have been cut. ABORTED if `revision` is not the policy's.
        """
        return self._message(NetworkPolicy, "UpdateNetwork", {"sandbox_id": sandbox_id, "mode": mode, **options})

    def explain_network(
        self,
        *,
        sandbox_id: str,
        host: str,
        port: int | None = None,
        path: str | None = None,
        **options: Unpack[ExplainNetworkRequest]
    ) -> NetworkExplanation:
        """Tells whether a connection would be allowed, and what decides it. Nothing is connected to, and no name is
        resolved.
        """
        request = {"sandbox_id": sandbox_id, "host": host, "port": port, "path": path, **options}
        return self._message(NetworkExplanation, "ExplainNetwork", request)

    def list_connections(self, *, sandbox_id: str, **options: Unpack[CallOptions]) -> Generator[Connection, None, None]:
        """Lists the open and the last closed connections of a running sandbox, and what was refused: connections,
        requests and names. The newest first, page by page.
        """
        return self._list(Connection, "ListConnections", "connections", {"sandbox_id": sandbox_id, **options})

    def watch_network(
        self, *, sandbox_id: str, **options: Unpack[WatchNetworkRequest]
    ) -> Generator[NetworkEvent, None, None]:
        """Sends the kept events of the network of a running sandbox, at most 1,000, and then each one as it happens:
        connections that are opened or end, and refusals. The last event carries `end`: the network was closed, by the
        policy or because the sandbox does not run. RESOURCE_EXHAUSTED with more than 16 watches of a sandbox. A watch
        is no use of the sandbox.
        """
        return self._stream(NetworkEvent, "WatchNetwork", {"sandbox_id": sandbox_id, **options})

    def list_network_presets(self, **options: Unpack[CallOptions]) -> Generator[NetworkPreset, None, None]:
        """Lists the presets: named sets of rules for `presets` of a policy."""
        return self._list(NetworkPreset, "ListNetworkPresets", "presets", options, pages=False)

    def set_owner_limits(self, *, owner_id: str, **options: Unpack[SetOwnerLimitsRequest]) -> OwnerSettings:
        """Replaces the limits of an owner that differ from the configured ones. In force at once for calls and for what
        is created or stored from then on; memory_bytes and cpu_quota from the next start of one of the owner's
        sandboxes on. Admins only. FAILED_PRECONDITION if authentication is off.
        """
        return self._message(OwnerSettings, "SetOwnerLimits", {"owner_id": owner_id, **options})

    def get_owner_limits(self, *, owner_id: str, **options: Unpack[CallOptions]) -> OwnerSettings:
        """Returns the limits of an owner: to admins, and to the owner itself."""
        return self._message(OwnerSettings, "GetOwnerLimits", {"owner_id": owner_id, **options})

    def open_port(
        self, *, sandbox_id: str, port: int | None = None, **options: Unpack[OpenPortRequest]
    ) -> OpenPortResponse:
        """Opens a port of a sandbox. If it is open already, this replaces how: the link token of before is not valid
        any more, and its connections are cut. Durable when the call resolves. RESOURCE_EXHAUSTED if the sandbox has 64
        open ports.
        """
        return self._message(OpenPortResponse, "OpenPort", {"sandbox_id": sandbox_id, "port": port, **options})

    def list_ports(self, *, sandbox_id: str, **options: Unpack[ListPortsRequest]) -> ListPortsResponse:
        """Lists the opened ports of a sandbox, in the order of their numbers."""
        return self._message(ListPortsResponse, "ListPorts", {"sandbox_id": sandbox_id, **options})

    def get_port(self, *, sandbox_id: str, port: int, **options: Unpack[CallOptions]) -> OpenedPort:
        """Returns an opened port. NOT_FOUND for one that is not open."""
        return self._message(OpenedPort, "GetPort", {"sandbox_id": sandbox_id, "port": port, **options})

    def close_port(self, *, sandbox_id: str, port: int, **options: Unpack[CallOptions]) -> None:
        """Closes a port: its link token is not valid any more, and its connections are cut. NOT_FOUND for one that is
        not open.
        """
        self._call("ClosePort", {"sandbox_id": sandbox_id, "port": port, **options})

    def start_process(
        self,
        *,
        sandbox_id: str,
        command: Command,
        process_id: str | None = None,
        **options: Unpack[StartProcessRequest]
    ) -> Process:
        """Starts a process. In the answer it runs. With a `process_id` that the sandbox has already: returns that
        process and starts nothing, if the request is the same; otherwise ALREADY_EXISTS.
        """
        request = {"sandbox_id": sandbox_id, "command": command, "process_id": process_id, **options}
        return self._message(Process, "StartProcess", request)

    def get_process(self, *, sandbox_id: str, process_id: str, **options: Unpack[CallOptions]) -> Process:
        """Returns one process."""
        request = {"sandbox_id": sandbox_id, "process_id": process_id, **options}
        return self._message(Process, "GetProcess", request)

    def list_processes(
        self, *, sandbox_id: str, **options: Unpack[ListProcessesRequest]
    ) -> Generator[Process, None, None]:
        """Lists the processes of a sandbox, the newest first, page by page. Those that have ended are listed until they
        are deleted, or the server's retention time is over.
        """
        return self._list(Process, "ListProcesses", "processes", {"sandbox_id": sandbox_id, **options})

    def delete_process(self, *, sandbox_id: str, process_id: str, **options: Unpack[CallOptions]) -> None:
        """Ends a process and all processes that it started, in the background, too, and deletes its output."""
        self._call("DeleteProcess", {"sandbox_id": sandbox_id, "process_id": process_id, **options})

    def signal_process(
        self, *, sandbox_id: str, process_id: str, signal: str, **options: Unpack[CallOptions]
    ) -> Process:
        """Sends a signal to the process and to every process that it started. Succeeds and changes nothing if it has
        ended.
        """
        request = {"sandbox_id": sandbox_id, "process_id": process_id, "signal": signal, **options}
        return self._message(Process, "SignalProcess", request)

    def resize_terminal(
        self, *, sandbox_id: str, process_id: str, **options: Unpack[ResizeTerminalRequest]
    ) -> None:
        """Changes the size of a process's terminal. FAILED_PRECONDITION if it has none."""
        self._call("ResizeTerminal", {"sandbox_id": sandbox_id, "process_id": process_id, **options})

    def read_process_output(
        self, *, sandbox_id: str, process_id: str, **options: Unpack[ReadProcessOutputRequest]
    ) -> ReadProcessOutputResponse:
        """Returns kept output from an offset on, with the end of the process once all of its output was returned."""
        request = {"sandbox_id": sandbox_id, "process_id": process_id, **options}
        return self._message(ReadProcessOutputResponse, "ReadProcessOutput", request)

    def watch_process(
        self, *, sandbox_id: str, process_id: str, **options: Unpack[WatchProcessRequest]
    ) -> Generator[ProcessEvent, None, None]:
        """Sends kept output from an offset on, and further output as it is written. The last event carries `end`. A
        reader that leaves does not affect the process.
        """
        request = {"sandbox_id": sandbox_id, "process_id": process_id, **options}
        return self._stream(ProcessEvent, "WatchProcess", request)

    def write_process_input(
        self, content: Content, *, sandbox_id: str, process_id: str, **options: Unpack[WriteProcessInputRequest]
    ) -> WriteProcessInputResponse:
        """Writes to the standard input or the terminal of a process, at the pace at which it reads. The first message
        names the process and may carry a chunk; later messages carry chunks.
        """
        request = {"sandbox_id": sandbox_id, "process_id": process_id, **options}
        return self._message(WriteProcessInputResponse, "WriteProcessInput", request, content)

    def wait_port(
        self, *, sandbox_id: str, port: int | None = None, **options: Unpack[WaitPortRequest]
    ) -> WaitPortResponse:
        """Returns the TCP ports on which programs of the sandbox listen; waits for one on request."""
        return self._message(WaitPortResponse, "WaitPort", {"sandbox_id": sandbox_id, "port": port, **options})

    def create_sandbox(
        self, *, codebase_id: str, validate_only: bool | None = None, **options: Unpack[CreateSandboxRequest]
    ) -> Sandbox:
        """Creates a sandbox. In the answer it is "running" and accepts Exec at once."""
        request = {"codebase_id": codebase_id, "validate_only": validate_only, **options}
        return self._message(Sandbox, "CreateSandbox", request)

    def get_sandbox(self, *, sandbox_id: str, **options: Unpack[GetSandboxRequest]) -> Sandbox:
        """Returns one sandbox."""
        return self._message(Sandbox, "GetSandbox", {"sandbox_id": sandbox_id, **options})

    def list_sandboxes(self, **options: Unpack[ListSandboxesRequest]) -> Generator[Sandbox, None, None]:
        """Lists sandboxes, the newest first, page by page."""
        return self._list(Sandbox, "ListSandboxes", "sandboxes", options)

    def update_sandbox(self, *, sandbox_id: str, **options: Unpack[UpdateSandboxRequest]) -> Sandbox:
        """Changes labels, lifetime, idle policy, shell, environment and working directory of a sandbox, in every state:
        what the request names, all or nothing. FAILED_PRECONDITION if the sandbox has expired, unless `on_expire` keeps
        it: a new expires_in then ends its expiry, and StartSandbox starts it. Over REST the body is a JSON merge patch
        (RFC 7396).
        """
        return self._message(Sandbox, "UpdateSandbox", {"sandbox_id": sandbox_id, **options})

    def start_sandbox(self, *, sandbox_id: str, **options: Unpack[CallOptions]) -> Sandbox:
        """Starts a sandbox that is "stopped" or "error". Succeeds and changes nothing if it is running."""
        return self._message(Sandbox, "StartSandbox", {"sandbox_id": sandbox_id, **options})

    def stop_sandbox(self, *, sandbox_id: str, **options: Unpack[CallOptions]) -> Sandbox:
        """Ends every process in the sandbox and keeps its files. Succeeds and changes nothing if it is stopped."""
        return self._message(Sandbox, "StopSandbox", {"sandbox_id": sandbox_id, **options})

    def destroy_sandbox(self, *, sandbox_id: str, **options: Unpack[DestroySandboxRequest]) -> None:
        """Removes a sandbox and its uncommitted changes, from every state. With auto_commit the changes are committed
        first; if that fails, the answer is FAILED_PRECONDITION, and the sandbox is stopped and kept.
        """
        self._call("DestroySandbox", {"sandbox_id": sandbox_id, **options})

    def exec(
        self, *, sandbox_id: str, command: Command, yield_after: Duration = None, **options: Unpack[ExecRequest]
    ) -> ExecResponse:
        """Runs one command until it exits. An exit code other than 0 is a result, not an error. Over gRPC an answer has
        at most 4 MiB, or as much as the metadata `x-max-answer-bytes` says, and output above that is cut. ExecStream
        sends all output.
        """
        request = {"sandbox_id": sandbox_id, "command": command, "yield_after": yield_after, **options}
        return self._message(ExecResponse, "Exec", request)

    def exec_stream(
        self, *, sandbox_id: str, command: Command, yield_after: Duration = None, **options: Unpack[ExecRequest]
    ) -> Generator[ExecStreamChunk, None, None]:
        """Runs one command and sends its output as it is written. Exactly one last chunk carries exit_code and no data.
        """
        request = {"sandbox_id": sandbox_id, "command": command, "yield_after": yield_after, **options}
        return self._stream(ExecStreamChunk, "ExecStream", request)

    def create_session(self, *, sandbox_id: str, **options: Unpack[CreateSessionRequest]) -> Session:
        """Starts a shell in the sandbox that keeps its directory, variables, functions, options and background
        processes between the commands that SessionExec gives it. FAILED_PRECONDITION if the sandbox has no such shell,
        RESOURCE_EXHAUSTED above limits.sessions. A session ends with its shell, and when its sandbox is stopped,
        destroyed, rolled back or fails. It does not outlive the server.
        """
        return self._message(Session, "CreateSession", {"sandbox_id": sandbox_id, **options})

    def get_session(self, *, session_id: str, **options: Unpack[CallOptions]) -> Session:
        """Returns one session. One that has ended is known for an hour."""
        return self._message(Session, "GetSession", {"session_id": session_id, **options})

    def list_sessions(self, *, sandbox_id: str, **options: Unpack[CallOptions]) -> Generator[Session, None, None]:
        """Lists the sessions of a sandbox, the newest first, page by page."""
        return self._list(Session, "ListSessions", "sessions", {"sandbox_id": sandbox_id, **options})

    def destroy_session(self, *, session_id: str, **options: Unpack[CallOptions]) -> None:
        """Kills the shell of a session and everything that was started in it, and forgets the session."""
        self._call("DestroySession", {"session_id": session_id, **options})

    def session_exec(
        self, *, session_id: str, command: str, **options: Unpack[SessionExecRequest]
    ) -> ExecResponse:
        """Runs one command in the shell of a session, after those that were sent before. If it ends the shell (`exit`,
        `exec`, `set -e`), the exit code is the shell's and `session_ended` is true; later commands are
        FAILED_PRECONDITION. A timeout, or a client that disconnects, kills everything in the session; the next command
        gets a new shell, and its answer has `session_reset`.
        """
        request = {"session_id": session_id, "command": command, **options}
        return self._message(ExecResponse, "SessionExec", request)

    def session_exec_stream(
        self, *, session_id: str, command: str, **options: Unpack[SessionExecRequest]
    ) -> Generator[ExecStreamChunk, None, None]:
        """Like SessionExec, and sends the output as it is written. Exactly one last chunk carries exit_code and no
        data.
        """
        request = {"session_id": session_id, "command": command, **options}
        return self._stream(ExecStreamChunk, "SessionExecStream", request)

    def update_permissions(self, *, sandbox_id: str, **options: Unpack[UpdatePermissionsRequest]) -> Sandbox:
        """Replaces the rules of a sandbox, which may be running. From the answer on every operation obeys the new
        rules, including operations on open descriptors and mapped pages.
        """
        return self._message(Sandbox, "UpdatePermissions", {"sandbox_id": sandbox_id, **options})

    def explain_permission(
        self, *, sandbox_id: str, path: str | None = None, **options: Unpack[ExplainPermissionRequest]
    ) -> PermissionExplanation:
        """Returns the permission of a path and the rules that decide it. The path need not exist."""
        request = {"sandbox_id": sandbox_id, "path": path, **options}
        return self._message(PermissionExplanation, "ExplainPermission", request)

    def list_refusals(self, *, sandbox_id: str, **options: Unpack[CallOptions]) -> Generator[RefusedPath, None, None]:
        """Lists the paths at which the rules refused what the commands of a running sandbox tried since its start, the
        first 256.
        """
        return self._list(RefusedPath, "ListRefusals", "refusals", {"sandbox_id": sandbox_id, **options}, pages=False)

    def list_presets(self, **options: Unpack[CallOptions]) -> Generator[Preset, None, None]:
        """Lists the presets: named sets of rules for CreateSandbox and UpdatePermissions."""
        return self._list(Preset, "ListPresets", "presets", options, pages=False)

    def list_changes(
        self, *, sandbox_id: str, paths: Sequence[str] | None = None, **options: Unpack[ListChangesRequest]
    ) -> Generator[FileChange, None, None]:
        """Lists the paths at which the sandbox differs from its codebase, in byte order, page by page."""
        return self._list(FileChange, "ListChanges", "changes", {"sandbox_id": sandbox_id, "paths": paths, **options})

    def export_changes(
        self,
        *,
        sandbox_id: str,
        format: str,
        paths: Sequence[str] | None = None,
        **options: Unpack[ExportChangesRequest]
    ) -> Download:
        """Returns all changes as one stream of bytes."""
        request = {"sandbox_id": sandbox_id, "format": format, "paths": paths, **options}
        return Download(self, "ExportChanges", request)

    def commit(
        self, *, sandbox_id: str, paths: Sequence[str] | None = None, **options: Unpack[CommitRequest]
    ) -> CommitResponse:
        """Moves changes into the codebase, all or nothing. Commands in the sandbox continue, with their open files.
        ABORTED, with the paths in the details, if the codebase's version is no longer the one that the sandbox started
        from.
        """
        return self._message(CommitResponse, "Commit", {"sandbox_id": sandbox_id, "paths": paths, **options})

    def discard(
        self, *, sandbox_id: str, paths: Sequence[str] | None = None, **options: Unpack[DiscardRequest]
    ) -> DiscardResponse:
        """Drops changes, all or nothing: the paths show the codebase's version again, also through open files."""
        return self._message(DiscardResponse, "Discard", {"sandbox_id": sandbox_id, "paths": paths, **options})

    def create_checkpoint(
        self, *, sandbox_id: str, name: str, **options: Unpack[CreateCheckpointRequest]
    ) -> Checkpoint:
        """Saves the present state of a sandbox, which may be running, under a name. A checkpoint is removed with its
        sandbox.
        """
        return self._message(Checkpoint, "CreateCheckpoint", {"sandbox_id": sandbox_id, "name": name, **options})

    def list_checkpoints(self, *, sandbox_id: str, **options: Unpack[CallOptions]) -> Generator[Checkpoint, None, None]:
        """Lists the checkpoints of a sandbox, oldest first."""
        request = {"sandbox_id": sandbox_id, **options}
        return self._list(Checkpoint, "ListCheckpoints", "checkpoints", request, pages=False)

    def delete_checkpoint(self, *, sandbox_id: str, name: str, **options: Unpack[CallOptions]) -> None:
        """Deletes one checkpoint."""
        self._call("DeleteCheckpoint", {"sandbox_id": sandbox_id, "name": name, **options})

    def rollback(self, *, sandbox_id: str, checkpoint: str, **options: Unpack[CallOptions]) -> Sandbox:
        """Returns a sandbox, which may be running, to a checkpoint, including its open files. The checkpoint is kept.
        """
        request = {"sandbox_id": sandbox_id, "checkpoint": checkpoint, **options}
        return self._message(Sandbox, "Rollback", request)

    def fork(self, *, sandbox_id: str, count: int | None = None, **options: Unpack[ForkRequest]) -> ForkResponse:
        """Creates sandboxes that start from the present state of this one, or from one of its checkpoints."""
        return self._message(ForkResponse, "Fork", {"sandbox_id": sandbox_id, "count": count, **options})

    def stat_file(
        self, *, sandbox_id: str, path: str | None = None, **options: Unpack[StatFileRequest]
    ) -> FileStat:
        """Returns the metadata of one path of the workspace. Does not follow a symlink at the path itself.

        All file operations act as the sandbox's commands (`as` "agent" or empty: rules and mode bits apply, and the
        sandbox must be running) or as its owner ("owner": no restriction, in every state). Their changes are changes of
        the sandbox, as if a command had made them. Symlinks are followed within the workspace only.
        """
        return self._message(FileStat, "StatFile", {"sandbox_id": sandbox_id, "path": path, **options})

    def preview_file(
        self, *, sandbox_id: str, path: str | None = None, **options: Unpack[CallOptions]
    ) -> PreviewFileResponse:
        """Shows a file with placeholders as commands see it, and the keys whose values they do not see."""
        request = {"sandbox_id": sandbox_id, "path": path, **options}
        return self._message(PreviewFileResponse, "PreviewFile", request)

    def list_directory(
        self, *, sandbox_id: str, path: str | None = None, **options: Unpack[ListDirectoryRequest]
    ) -> Generator[FileStat, None, None]:
        """Lists a directory of the workspace in byte order of the paths, page by page."""
        return self._list(FileStat, "ListDirectory", "files", {"sandbox_id": sandbox_id, "path": path, **options})

    def read_file(self, *, sandbox_id: str, path: str, **options: Unpack[ReadFileRequest]) -> Download:
        """Returns the contents of one version of a file. ABORTED if the file is written to meanwhile."""
        return Download(self, "ReadFile", {"sandbox_id": sandbox_id, "path": path, **options})

    def write_file(
        self, content: Content, *, sandbox_id: str, path: str, **options: Unpack[WriteFileRequest]
    ) -> FileStat:
        """Creates or replaces a file, completely or not at all; programs that have the old file open keep it. The first
        message names the sandbox and the path and may carry a chunk; later messages carry chunks. Missing parent
        directories are created.
        """
        return self._message(FileStat, "WriteFile", {"sandbox_id": sandbox_id, "path": path, **options}, content)

    def make_directory(
        self, *, sandbox_id: str, path: str | None = None, **options: Unpack[MakeDirectoryRequest]
    ) -> FileStat:
        """Creates a directory."""
        return self._message(FileStat, "MakeDirectory", {"sandbox_id": sandbox_id, "path": path, **options})

    def move_file(self, *, sandbox_id: str, **options: Unpack[MoveFileRequest]) -> FileStat:
        """Renames a file, directory or symlink."""
        return self._message(FileStat, "MoveFile", {"sandbox_id": sandbox_id, **options})

    def delete_file(
        self, *, sandbox_id: str, path: str, **options: Unpack[DeleteFileRequest]
    ) -> DeleteFileResponse:
        """Removes a file, directory or symlink."""
        request = {"sandbox_id": sandbox_id, "path": path, **options}
        return self._message(DeleteFileResponse, "DeleteFile", request)

    def export_files(
        self, *, sandbox_id: str, path: str | None = None, **options: Unpack[ExportFilesRequest]
    ) -> Download:
        """Returns the contents of a directory as one archive."""
        return Download(self, "ExportFiles", {"sandbox_id": sandbox_id, "path": path, **options})

    def import_files(
        self, content: Content, *, sandbox_id: str, path: str | None = None, **options: Unpack[ImportFilesRequest]
    ) -> ImportFilesResponse:
        """Unpacks an archive into a directory, all or nothing. The first message names the sandbox and the directory
        and may carry a chunk; later messages carry chunks.
        """
        request = {"sandbox_id": sandbox_id, "path": path, **options}
        return self._message(ImportFilesResponse, "ImportFiles", request, content)

    def put_secret(
        self, *, name: str, value: str, hosts: Sequence[str], **options: Unpack[PutSecretRequest]
    ) -> Secret:
        """Stores a secret, or replaces its value, hosts, parts, header and shape. In force for the next request of each
        sandbox that is bound to it.
        """
        return self._message(Secret, "PutSecret", {"name": name, "value": value, "hosts": hosts, **options})

    def get_secret(self, *, name: str, **options: Unpack[GetSecretRequest]) -> Secret:
        """Returns a secret without its value."""
        return self._message(Secret, "GetSecret", {"name": name, **options})

    def list_secrets(self, **options: Unpack[ListSecretsRequest]) -> Generator[Secret, None, None]:
        """Lists secrets without their values in order of owner and name, page by page."""
        return self._list(Secret, "ListSecrets", "secrets", options)

    def delete_secret(self, *, name: str, **options: Unpack[DeleteSecretRequest]) -> None:
        """Removes a secret. FAILED_PRECONDITION if a sandbox is bound to it, unless `force` is set."""
        self._call("DeleteSecret", {"name": name, **options})

    def health(self, **options: Unpack[CallOptions]) -> None:
        """Returns if the service is up. Needs no key."""
        self._call("Health", options)
