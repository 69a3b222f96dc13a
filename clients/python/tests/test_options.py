"""Options that methods do not have, as in the other clients."""

from __future__ import annotations

from typing import Any, Callable, Dict

from paddock_sandbox import InvalidArgumentError
from support import ServerCase
from test_ignore import spec


class Options(ServerCase):
    def calls(self, directory: str, given: Dict[str, Any]) -> Dict[str, Callable[[], Any]]:
        """Calls each method with an option that it does not have."""
        sandbox, codebases, sandboxes = self.sandbox, self.client.codebases, self.client.sandboxes
        files, codebase = sandbox.files, self.sandbox.codebase_id
        return {
            "run": lambda: sandbox.run("touch done", **given),
            "stream": lambda: next(sandbox.stream("touch done", **given)),
            "start": lambda: sandbox.start("touch done", **given),
            "session": lambda: sandbox.session(**given),
            "session.run": lambda: sandbox.session().run("touch done", **given),
            "changes": lambda: sandbox.changes(**given),
            "patch": lambda: sandbox.patch(**given),
            "commit": lambda: sandbox.commit(**given),
            "discard": lambda: sandbox.discard(**given),
            "pull": lambda: sandbox.pull(directory, **given),
            "checkpoint": lambda: sandbox.checkpoint("a", **given),
            "fork": lambda: sandbox.fork(**given),
            "stop": lambda: sandbox.stop(**given),
            "destroy": lambda: sandbox.destroy(**given),
            "create": lambda: sandboxes.create(**given),
            "files.read": lambda: files.read("a", **given),
            "files.write": lambda: files.write("a", "x", **given),
            "files.list": lambda: list(files.list(**given)),
            "files.remove": lambda: files.remove("a", **given),
            "files.mkdir": lambda: files.mkdir("a", **given),
            "files.upload": lambda: files.upload(directory, **given),
            "rules.explain": lambda: sandbox.rules.explain("a", **given),
            "ports.list": lambda: sandbox.ports.list(**given),
            "network.explain": lambda: sandbox.network.explain("a", **given),
            "codebases.upload": lambda: codebases.upload(codebase, directory, **given),
            "codebases.list": lambda: list(codebases.list(**given)),
            "sandboxes.list": lambda: list(sandboxes.list(**given)),
        }

    def test_an_option_that_a_method_does_not_have_is_refused_by_its_name(self) -> None:
        directory = self.directory({})
        for case in spec("options.json")["cases"]:
            with self.subTest(case["method"]):
                with self.assertRaisesRegex(InvalidArgumentError, f"{case['option']} is not a known"):
                    self.calls(directory, {case["option"]: "x"})[case["method"]]()
        self.assertEqual(self.sandbox.changes(), [])

    def test_a_listener_is_refused_that_no_request_could_have(self) -> None:
        with self.assertRaisesRegex(InvalidArgumentError, "on_std_out is not a known option"):
            self.sandbox.run("true", on_std_out=print)  # type: ignore[call-arg]
