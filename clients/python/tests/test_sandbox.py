"""Commands, sessions and files of a sandbox on a real server."""

from __future__ import annotations

import io
import os
import tarfile
from datetime import datetime, timedelta, timezone
from typing import List

from paddock_sandbox import (
    CommandError,
    CommandTimeoutError,
    InvalidArgumentError,
    NotFoundError,
    Paddock,
    PermissionDeniedError,
    Sandbox,
    FailedPreconditionError,
)
from paddock_sandbox.messages import NetworkPolicy, NetworkRule
from support import PROJECT, ServerCase


class Commands(ServerCase):
    def test_a_result_has_both_streams_and_the_exit_code(self) -> None:
        result = self.sandbox.run("cat; echo error >&2; exit 3", stdin="input", env={"A": "1"})
        self.assertEqual((result.stdout, result.stderr, result.exit_code), ("input", "error\n", 3))
        self.assertEqual(result.output, "inputerror\n")
        self.assertFalse(result.ok)
        self.assertGreaterEqual(result.duration.total_seconds(), 0)
        with self.assertRaises(CommandError) as caught:
            result.check()
        self.assertEqual((caught.exception.exit_code, caught.exception.result), (3, result))

    def test_a_list_is_a_program_with_arguments(self) -> None:
        self.assertEqual(self.sandbox.run(["printf", "%s|", "a b", "$HOME"]).stdout, "a b|$HOME|")

    def test_input_can_be_any_bytes(self) -> None:
        self.assertEqual(self.sandbox.run("od -An -tx1", stdin=b"\x00\xff").stdout.split(), ["00", "ff"])

    def test_a_timeout_has_the_output_so_far(self) -> None:
        with self.assertRaises(CommandTimeoutError) as caught:
            self.sandbox.run("echo begun; sleep 100", timeout="1s")
        self.assertEqual((caught.exception.stdout, caught.exception.timeout), ("begun\n", timedelta(seconds=1)))
        self.assertIsInstance(caught.exception, TimeoutError)

    def test_output_is_given_as_it_is_written(self) -> None:
        chunks = list(self.sandbox.stream("echo a; echo b >&2; exit 2"))
        written = sorted((each.type, each.text) for each in chunks)
        self.assertEqual((written, chunks[-1].exit_code), ([("exit", ""), ("stderr", "b\n"), ("stdout", "a\n")], 2))
        told = []
        result = self.sandbox.run("echo a; echo b >&2; exit 2", on_stdout=told.append, on_stderr=told.append)
        self.assertEqual(
            (sorted(told), result.stdout, result.stderr, result.exit_code),
            (["a\n", "b\n"], "a\n", "b\n", 2),
        )
        whole: List[str] = []
        self.sandbox.run("printf '\\303'; sleep 0.2; printf '\\244'; printf '\\303'", on_stdout=whole.append)
        self.assertEqual("".join(whole), "\u00e4\ufffd")

    def test_the_beginning_and_the_end_of_long_output_are_kept_streamed_or_not(self) -> None:
        for tell in (None, lambda text: None):
            result = self.sandbox.run("seq 99999; echo end", max_output=200, on_stdout=tell)
            self.assertRegex(result.stdout, r"(?s)^1\n2\n.*bytes left out\].*\nend\n$")
            self.assertEqual((result.output, result.output_truncated), (result.stdout, True))
            self.assertGreater(result.stdout_dropped_bytes, 588_000)

    def test_leaving_a_stream_ends_the_command(self) -> None:
        for piece in self.sandbox.stream("echo begun; exec sleep 1234"):
            self.assertEqual(piece.data, b"begun\n")
            break
        self.eventually(
            lambda: "1234" not in self.sandbox.run("cat /proc/[0-9]*/cmdline 2>&1 | tr '\\0' ' '").stdout
        )

    def test_a_session_keeps_its_state_until_its_shell_ends(self) -> None:
        with self.sandbox.session(env={"A": "1"}) as session:
            session.run("cd src; B=2")
            self.assertEqual(session.run("pwd; echo $A$B").stdout, "/workspace/src\n12\n")
            self.assertEqual("".join(each.text for each in session.stream("echo $B")), "2\n")
            self.assertEqual(session.run("exit 5").exit_code, 5)
            with self.assertRaises(FailedPreconditionError):
                session.run("true")
        with self.assertRaises(NotFoundError) as caught:
            self.client.api.get_session(session_id=session.id)
        self.assertEqual((caught.exception.resource_type, caught.exception.resource_id), ("session", session.id))


class Files(ServerCase):
    def test_files_are_written_read_listed_moved_and_removed(self) -> None:
        files = self.sandbox.files
        files.write("/workspace/new/ä b.txt", "text", mode=0o755)
        self.assertEqual(files.read_text("new/ä b.txt"), "text")
        self.assertEqual(b"".join(files.stream("data/blob.bin")), PROJECT["data/blob.bin"])
        found = files.stat("new/ä b.txt")
        self.assertEqual((found.type, found.size, found.mode), ("file", 4, 0o755))
        files.move("new/ä b.txt", "new/c.txt")
        files.mkdir("new/deep/er")
        paths = [each.path for each in files.list("new", recursive=True)]
        self.assertEqual(paths, ["new/c.txt", "new/deep", "new/deep/er"])
        self.assertTrue(files.exists("new/c.txt"))
        self.assertLess(abs(datetime.now(timezone.utc) - found.modified_at), timedelta(hours=1))
        self.assertEqual(files.remove("new", recursive=True), 4)
        with self.assertRaises(NotFoundError) as caught:
            files.read("new/c.txt")
        self.assertEqual((caught.exception.resource_type, caught.exception.resource_id), ("file", "new/c.txt"))

    def test_rules_hold_for_files_and_not_for_the_owner(self) -> None:
        self.assertRegex(self.sandbox.files.read(".env").decode(), "^SECRET=pdk")
        with self.assertRaises(PermissionDeniedError) as caught:
            self.sandbox.files.write("private", "x")
        self.assertEqual(caught.exception.path, "private")
        self.assertEqual(self.sandbox.files.as_owner().read_text("/workspace/.env"), "SECRET=1\n")
        self.assertEqual([each.path for each in self.sandbox.files.as_owner().list("src")], ["src/app.txt"])
        self.assertEqual(self.sandbox.rules.explain("/workspace").path, "")
        self.sandbox.files.as_owner().write("notes.txt", "seen")
        self.assertEqual(
            self.sandbox.run("cat notes.txt; ls -A").stdout, "seen.env\ndata\nmain.py\nnotes.txt\nsrc\n"
        )

    def test_large_content_is_streamed_from_a_file(self) -> None:
        content = os.urandom(3_000_000)
        self.sandbox.files.write("large", io.BytesIO(content))
        self.assertEqual(self.sandbox.files.read("large"), content)

    def test_a_directory_goes_in(self) -> None:
        files = self.sandbox.files
        files.upload(self.directory({"a.txt": "a", "b.log": "b"}), "copy", exclude=["*.log"])
        self.assertEqual([each.path for each in files.list("copy")], ["copy/a.txt"])

    def test_a_codebase_is_made_with_the_files_of_a_directory_or_not_at_all(self) -> None:
        codebase = self.client.codebases.create("made", self.directory(), exclude=["data"])
        self.addCleanup(self.client.codebases.delete, codebase.id)
        self.assertEqual([each.path for each in self.client.codebases.files(codebase.id)], [".env", "main.py", "src"])
        self.assertEqual(codebase.file_count, 3)
        with self.assertRaises(InvalidArgumentError):
            self.client.codebases.create("no archive", b"text")
        self.assertNotIn("no archive", [each.name for each in self.client.codebases.list()])

    def test_archives_go_in_and_out(self) -> None:
        archive = io.BytesIO(b"".join(self.sandbox.files.download("src")))
        with tarfile.open(fileobj=archive) as tar:
            self.assertEqual([each.name.rstrip("/") for each in tar if each.isfile()], ["app.txt"])
        archive.seek(0)
        self.assertEqual(self.sandbox.files.upload(archive, "copy").files, 1)
        self.assertEqual(self.sandbox.files.read_text("copy/app.txt"), "one\ntwo\n")


class LifeCycle(ServerCase):
    def test_what_a_context_manager_made_is_gone_at_its_end(self) -> None:
        with Sandbox.create(codebase=self.sandbox.codebase_id, labels={"of": "test"}) as second:
            self.assertEqual(second.status, "running")
            self.assertEqual(
                [each.id for each in self.client.sandboxes.list(labels={"of": "test"})], [second.id]
            )
        with self.assertRaises(NotFoundError) as caught:
            self.client.sandboxes.get(second.id)
        self.assertEqual((caught.exception.resource_type, caught.exception.resource_id), ("sandbox", second.id))

    def test_a_connected_sandbox_stays(self) -> None:
        with Sandbox.connect(self.sandbox.id) as same:
            self.assertEqual(same.run("echo same").stdout, "same\n")
        self.assertEqual(self.sandbox.refresh().status, "running")

    def test_a_fork_outlives_what_it_was_forked_from(self) -> None:
        first = Sandbox.create()
        second, third = first.forks(2)
        self.addCleanup(self.client.codebases.delete, first.codebase_id)
        first.destroy()
        second.close()
        for each in (second, third):
            self.assertEqual(each.run("echo fork").stdout, "fork\n")
            each.destroy()

    def test_what_is_destroyed_is_not_found(self) -> None:
        sandbox = Sandbox.create()
        sandbox.destroy()
        for call in (lambda: sandbox.run("true"), sandbox.changes, sandbox.refresh, sandbox.fork):
            with self.assertRaises(NotFoundError) as caught:
                call()
            self.assertEqual((caught.exception.code, caught.exception.resource_type), ("NOT_FOUND", "sandbox"))
        sandbox.destroy()

    def test_a_client_that_was_closed_says_so(self) -> None:
        client = Paddock()
        client.close()
        with self.assertRaisesRegex(FailedPreconditionError, "^the client is closed$"):
            client.health()

    def test_stop_and_resume(self) -> None:
        self.sandbox.stop()
        self.assertEqual(self.sandbox.status, "stopped")
        with self.assertRaises(FailedPreconditionError):
            self.sandbox.run("true")
        self.sandbox.resume()
        self.assertTrue(self.sandbox.run("true").ok)

    def test_nothing_is_left_of_a_creation_that_fails(self) -> None:
        before = len(list(self.client.codebases.list()))
        with self.assertRaises(ValueError):
            Sandbox.create(self.directory(), permissions=[{"pattern": "", "permission": "read"}])
        self.assertEqual(len(list(self.client.codebases.list())), before)

    def test_what_the_network_refuses_is_an_event(self) -> None:
        network = NetworkPolicy(mode="allow_list", rules=(NetworkRule(host="a.example"),))
        with Sandbox.create(codebase=self.sandbox.codebase_id, network=network) as second:
            second.run("getent ahostsv4 b.example")
            events = second.network.watch(denied_only=True)
            first = next(events)
            self.assertEqual((first.kind, first.connection.host), ("refused", "b.example"))
            second.stop()
            self.assertEqual([each.end.reason for each in events if each.end], ["closed"])

    def test_an_update_is_a_merge_patch(self) -> None:
        self.sandbox.update(labels={"a": "1", "b": "2"}, workdir="src")
        self.sandbox.update(labels={"a": None}, workdir=None)
        changed = self.sandbox.info
        self.assertEqual((dict(changed.labels), changed.workdir), ({"b": "2"}, ""))
