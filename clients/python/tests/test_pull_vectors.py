"""What a pull does to a local directory, by the cases that all clients share."""

from __future__ import annotations

import os
import warnings
from typing import Any, Dict, Optional

from paddock_sandbox import ChosenHunks, ConflictError, Paddock, PaddockError, Pulled, Sandbox
from paddock_sandbox._refusal import is_path
from pull_cases import Case, CaseServer
from pull_trees import Tree, lock, own, owners_of, put, snapshot
from support import TestCase
from test_ignore import spec

SPEC = os.path.join(os.environ["PADDOCK_PYTHON"], "../spec/pull")
NAMES = sorted(each for each in os.listdir(SPEC) if ".json" in each)


class PullVectors(TestCase):
    server: CaseServer
    client: Paddock
    sandbox: Sandbox

    def made(self, *trees: Tree) -> str:
        """A tree of the case, in a directory of its own."""
        root = os.path.join(self.directory({}), "home")
        os.mkdir(root)
        for tree in trees:
            put(root, tree)
        return root

    def test_each_case(self) -> None:
        self.server = self.enterContext(CaseServer())
        self.client = self.enterContext(Paddock(url=self.server.url))
        self.sandbox = Sandbox.connect("sb_1", paddock=self.client)
        for name in NAMES:
            for case in spec(f"pull/{name}")["cases"]:
                with self.subTest(case["name"], file=name):
                    self.case(case)

    def case(self, case: Case) -> None:
        trees = [case.get("base", {}), case.get("local", {})]
        root, readonly, before = self.made(*trees), case.get("readonly", []), os.umask(int(case.get("umask", "022"), 8))
        own(root, case.get("owners", {}))
        lock(root, readonly)
        try:
            if case.get("dry", True) and "meanwhile" not in case:
                self.check(case, root, dry_run=True)
                self.assertEqual(snapshot(root), snapshot(self.made(*trees)))
            self.check(case, root, dry_run=False)
            if "kept" in case:
                self.end(case)
        finally:
            lock(root, readonly, "-i")
            os.umask(before)
        self.assertEqual(snapshot(root), snapshot(self.made(*trees, case.get("after", {}))))
        self.assertEqual(os.listdir(os.path.dirname(root)), ["home"])
        self.assertEqual(owners_of(root, list(case.get("owned", {}))), case.get("owned", {}))

    def end(self, case: Case) -> None:
        """Of the block of the sandbox."""
        self.server.destroyed = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.sandbox.__exit__(None, None, None)
        self.assertEqual(self.server.destroyed, not case["kept"])

    def check(self, case: Case, root: str, dry_run: bool) -> None:
        thrown: Optional[PaddockError] = None
        try:
            found = self.pulled(case, root, dry_run)
        except PaddockError as error:
            if not {"raises", "error"} & set(case):
                raise
            thrown = error
        if "raises" in case:
            assert isinstance(thrown, ConflictError)
            self.assertEqual(list(thrown.paths), case["raises"])
        elif "error" in case:
            self.assertIn(case["error"], str(thrown))
        else:
            self.expect(case.get("expect", {}), found)

    def expect(self, expected: Dict[str, Any], found: Pulled) -> None:
        lists = {each: list(getattr(found, each)) for each in ("applied", "unchanged", "conflicts", "failed")}
        self.assertEqual(lists, {each: expected.get(each, []) for each in lists})
        skipped = expected.get("skipped", {})
        self.assertEqual(list(found.skipped), sorted(skipped))
        for path, reason in skipped.items():
            self.assertIn(reason, found.skipped[path])

    def pulled(self, case: Case, root: str, dry_run: bool) -> Pulled:
        options = dict(case.get("options", {}))
        if "only" in options:
            options["only"] = options["only"].__contains__
        if "hunks" in options:
            options["hunks"] = [ChosenHunks(**each) for each in options["hunks"]]
        self.server.case, self.server.root, self.server.steps = case, root, list(case.get("meanwhile", []))
        self.sandbox = Sandbox(self.client.api, self.sandbox.info, owns_sandbox=True)
        return self.sandbox.pull(root, dry_run=dry_run, **options)

    def test_names(self) -> None:
        for each in spec("pull/hostile.json")["names"]:
            found = [is_path(each["path"], separator) for separator in ("/", "\\")]
            self.assertEqual(found, [each["posix"], each["windows"]], each["path"])
