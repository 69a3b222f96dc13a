"""A directory that another user moves out of the tree while a file arrives, with a symlink in its place."""

from __future__ import annotations

import os

from paddock_sandbox._directories import Tree
from support import TestCase


class MovedDirectories(TestCase):
    def setUp(self) -> None:
        self.home = self.directory({"root/d/x": ""})
        self.tree = Tree(os.path.join(self.home, "root"))
        self.addCleanup(self.tree.close)

    def exchange(self) -> None:
        os.rename(os.path.join(self.home, "root/d"), os.path.join(self.home, "outside"))
        os.symlink("../outside", os.path.join(self.home, "root/d"))

    def test_it_is_not_written_to_although_a_symlink_leads_to_it(self) -> None:
        held = self.tree.open(["d"])
        assert held is not None
        self.addCleanup(held.close)
        self.assertTrue(self.tree.leads_to(["d"], held))
        self.exchange()
        self.assertFalse(self.tree.leads_to(["d"], held))

    def test_one_whose_path_is_longer_than_the_kernel_tells_is_known_too(self) -> None:
        names = ["d", *["n" * 250] * 17]
        held = self.tree.open(names, make=True)
        assert held is not None
        self.addCleanup(held.close)
        self.assertTrue(self.tree.leads_to(names, held))
        os.rename(os.path.join(self.home, "root/d"), os.path.join(self.home, "root/e"))
        self.assertFalse(self.tree.leads_to(names, held))
        made = self.tree.open(names, make=True)
        assert made is not None
        made.close()
        self.assertFalse(self.tree.leads_to(names, held))

    def test_nothing_is_made_in_it(self) -> None:
        self.assertIsNone(self.tree.open(["d", "missing"]))
        self.exchange()
        with self.assertRaises(OSError):
            self.tree.leads_to(["d", "missing"], None)
        with self.assertRaises(OSError):
            self.tree.open(["d", "missing"], make=True)
