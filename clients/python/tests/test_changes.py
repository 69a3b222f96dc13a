"""Review of a sandbox's changes on a real server."""

from __future__ import annotations

import subprocess
from paddock_sandbox import CommandTimeoutError, ConflictError, NotFoundError, Sandbox
from support import ServerCase


class Changes(ServerCase):
    def test_changes_are_listed_exported_discarded_and_committed(self) -> None:
        self.sandbox.run("echo three >> src/app.txt; echo new > added.txt; rm main.py")
        found = {each.path: each.kind for each in self.sandbox.changes()}
        expected = {
            "added.txt": "added",
            "main.py": "deleted",
            "src/app.txt": "modified",
        }
        self.assertEqual(found, expected)
        self.assertEqual([each.path for each in self.sandbox.changes(["src"])], ["src/app.txt"])
        self.assertIn("+three\n", self.sandbox.patch())
        directory = self.directory()
        subprocess.run(["git", "apply"], cwd=directory, input=self.sandbox.patch().encode(), check=True)
        self.assertEqual(self.get(directory, "src/app.txt"), "one\ntwo\nthree\n")
        self.assertEqual(self.sandbox.discard(["main.py"]), 1)
        self.assertEqual(self.sandbox.commit(dry_run=True).committed, False)
        done = self.sandbox.commit(exclude=["src/**"])
        self.assertEqual((done.committed, [each.path for each in done.changes]), (True, ["added.txt"]))
        self.assertEqual(self.client.codebases.read(self.sandbox.codebase_id, "added.txt"), b"new\n")
        self.client.codebases.remove(self.sandbox.codebase_id, "added.txt")

    def test_a_conflict_names_the_paths(self) -> None:
        self.sandbox.run("echo mine > src/app.txt")
        self.client.codebases.write(self.sandbox.codebase_id, "src/app.txt", "theirs\n")
        with self.assertRaises(ConflictError) as caught:
            self.sandbox.commit()
        self.assertEqual(caught.exception.paths, ("src/app.txt",))
        self.sandbox.commit(on_conflict="theirs")
        self.assertEqual(self.sandbox.files.as_owner().read_text("src/app.txt"), "theirs\n")
        self.client.codebases.write(self.sandbox.codebase_id, "src/app.txt", "one\ntwo\n")

    def test_checkpoints_and_forks(self) -> None:
        self.sandbox.files.as_owner().write("state.txt", "first")
        self.sandbox.checkpoint("first")
        self.sandbox.files.as_owner().write("state.txt", "second")
        fork = self.sandbox.fork(checkpoint="first")
        self.assertEqual(fork.files.as_owner().read_text("state.txt"), "first")
        fork.destroy()
        self.sandbox.rollback("first")
        self.assertEqual(self.sandbox.files.as_owner().read_text("state.txt"), "first")
        self.assertEqual([each.name for each in self.sandbox.checkpoints()], ["first"])
        self.sandbox.delete_checkpoint("first")
        with self.assertRaises(NotFoundError) as caught:
            self.sandbox.rollback("first")
        self.assertEqual((caught.exception.resource_type, caught.exception.resource_id), ("checkpoint", "first"))

    def test_rules_can_be_explained_and_replaced(self) -> None:
        self.assertIn("placeholders", self.sandbox.rules.explain(".env").reason)
        rules = {"write": ["src"], "view": ["data"], "read": ["**"]}
        with Sandbox.create(codebase=self.sandbox.codebase_id, rules=rules, preset="none") as second:
            self.assertEqual(second.rules.explain("src/x").permission, "write")
            self.assertFalse(second.run("cat data/blob.bin").ok)
            refused = [(each.path, each.code) for each in second.refusals()]
            self.assertEqual(refused, [("data/blob.bin", "not_readable")])
            second.rules.set(preset="none", permissions=[{"pattern": "**", "permission": "read"}])
            self.assertTrue(second.run("cat data/blob.bin > /dev/null").ok)
            self.assertEqual([rule.permission for rule in second.rules.get()], ["read"])


class Processes(ServerCase):
    def test_a_process_takes_input_and_its_output_can_be_read_again(self) -> None:
        with self.sandbox.start("while read n; do echo $((n + 1)); done", stdin=True) as process:
            process.write("1\n")
            process.write("2\n", offset=2)
            process.write("1\n2\n", offset=0)
            process.close_stdin()
            self.assertEqual(process.wait("20s").reason, "exited")
            for _ in range(2):
                self.assertEqual("".join(each.text for each in process.output()), "2\n3\n")
            (rest,) = self.sandbox.process(process.id).output(offset=2)
            self.assertEqual((rest.type, rest.text, rest.next), ("stdout", "3\n", 4))
        self.assertEqual(list(self.sandbox.processes()), [])

    def test_a_process_can_be_waited_for_and_killed(self) -> None:
        program = "import socket; s = socket.create_server(('', 8123)); s.accept()"
        process = self.sandbox.start(["python3", "-c", program], id="port", labels={"of": "port"})
        self.assertEqual(process.id, "port")
        ports = self.sandbox.ports
        found = ports.wait(8123, "20s")
        self.assertEqual((found.port, found.process_id, ports.list()), (8123, process.id, (found,)))
        opened = ports.open(8123, access="link", expires_in="1m")
        self.assertTrue(opened.link_token.startswith("pdl_"))
        self.assertTrue(opened.link.startswith("http://"))
        self.assertTrue(opened.link.endswith(f"/?paddock_token={opened.link_token}"))
        self.assertEqual([each.port for each in ports.opened()], [8123])
        ports.close(8123)
        self.assertEqual(ports.opened(), ())
        with self.assertRaises(TimeoutError):
            process.wait("0s")
        process.signal("SIGINT")
        self.assertEqual(process.wait("20s").signal, 2)
        process.delete()
        process.delete()
        with self.assertRaises(CommandTimeoutError):
            ports.wait(8123, "0s")
