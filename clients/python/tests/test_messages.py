"""Messages, rules, settings and results, without a server."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import os
import pickle
import ssl
from datetime import datetime, timedelta, timezone
from unittest import mock

import paddock_sandbox
from paddock_sandbox import (
    AsyncPaddock,
    AsyncProcess,
    AsyncSandbox,
    AsyncSession,
    CommandError,
    CommandResult,
    InvalidArgumentError,
    OwnerLimits,
    Paddock,
    PatternType,
    Permission,
    PermissionRule,
    Process,
    ResourceLimits,
    Sandbox,
    Session,
    errors,
    messages,
)
from paddock_sandbox._async.api import AsyncApi
from paddock_sandbox._async.files import AsyncFiles
from paddock_sandbox._duration import exact_seconds
from paddock_sandbox._json import decode, encode
from paddock_sandbox._rules import with_preset
from paddock_sandbox._settings import settings
from paddock_sandbox._sync.api import Api
from paddock_sandbox._sync.files import Files
from support import TestCase
from test_ignore import spec


class Messages(TestCase):
    def test_json_becomes_messages_and_the_other_way_round(self) -> None:
        rule = {
            "pattern": "src",
            "permission": "PERMISSION_WRITE",
            "type": "PATTERN_DIRECTORY",
            "scratch": True,
        }
        value = {
            "id": "sb_1",
            "status": "SANDBOX_NEW",
            "permissions": [rule],
            "resources": {"pids_limit": 3},
            "created_at": 1_000_000_000,
            "expires_at": 0,
            "idle_timeout": 60,
            "new": 1,
        }
        sandbox = decode(messages.Sandbox, value)
        self.assertEqual(
            sandbox.permissions, (PermissionRule("src", Permission.WRITE, PatternType.DIRECTORY, 0, True),)
        )
        # A word that this version does not know.
        self.assertEqual(sandbox.status, "new")
        self.assertEqual(sandbox.created_at, datetime(2001, 9, 9, 1, 46, 40, tzinfo=timezone.utc))
        self.assertIsNone(sandbox.expires_at)
        self.assertEqual(sandbox.idle_timeout, timedelta(minutes=1))
        self.assertEqual(sandbox.resources, ResourceLimits(pids_limit=3))
        self.assertEqual(encode({"permissions": sandbox.permissions}), {"permissions": [rule]})
        self.assertEqual(encode({"limits": OwnerLimits(commands=0)}), {"limits": {"commands": 0}})
        self.assertEqual(decode(messages.ProcessEvent, {"data": "AP8=", "end": None}).data, b"\x00\xff")

    def test_every_message_can_be_made_of_nothing(self) -> None:
        for name in messages.__all__:
            kind = getattr(messages, name)
            if dataclasses.is_dataclass(kind):
                self.assertIsInstance(decode(kind, {}), kind)
            self.assertTrue(inspect.getdoc(kind), name)

    def test_durations_are_those_of_all_clients(self) -> None:
        for case in spec("durations.json")["cases"]:
            with self.subTest(case["duration"]):
                if case["seconds"] is None:
                    with self.assertRaises(ValueError) as caught:
                        exact_seconds("timeout", case["duration"])
                    self.assertIn("timeout is like", str(caught.exception))
                else:
                    self.assertEqual(exact_seconds("timeout", case["duration"]), case["seconds"])

    def test_a_request_is_as_the_service_takes_it(self) -> None:
        for given, sent in (
            ({"timeout": "0s", "wait": "1.5s", "expires_in": None}, {"timeout": 0, "wait": 1500}),
            ({"timeout": "1.1m", "idle_timeout": timedelta(seconds=2)}, {"timeout": 66, "idle_timeout": 2}),
            ({"command": ["a", "b"], "stdin": b"\0"}, {"argv": ["a", "b"], "stdin_bytes": "AA=="}),
            ({"command": "a", "stdin": "b", "as_": "owner"}, {"command": "a", "stdin": "b", "as": "owner"}),
            ({"permissions": [{"permission": "read"}]}, {"permissions": [{"permission": "PERMISSION_READ"}]}),
            ({"labels": {"type": "x", "timeout": "1"}}, {"labels": {"type": "x", "timeout": "1"}}),
        ):
            with self.subTest(given):
                self.assertEqual(encode(given), sent)
        self.assertEqual(encode({"labels": {"a": None}, "env": None}, nulls=True), {"labels": {"a": None}, "env": None})
        for wrong in ({"timeout": 60}, {"runtime": "xen"}):
            with self.assertRaises(ValueError):
                encode(wrong)

    def test_a_result_has_both_streams(self) -> None:
        result = CommandResult(stdout="a", exit_code=0, duration_ms=1500)
        self.assertEqual((result.ok, result.duration), (True, timedelta(seconds=1.5)))
        self.assertIs(result.check(), result)


class Rules(TestCase):
    def test_rules_have_the_preset_that_all_clients_send(self) -> None:
        for case in spec("presets.json")["cases"]:
            with self.subTest(case["options"]):
                self.assertEqual(with_preset(case["options"])["preset"], case["preset"])


class Settings(TestCase):
    def test_the_address_comes_from_the_argument_or_the_environment(self) -> None:
        with mock.patch.dict(os.environ, {"PADDOCK_URL": "https://host/base/", "PADDOCK_KEY": "k"}):
            self.assertEqual((settings().endpoint, settings().key), ("https://host:443/base", "k"))
            self.assertEqual(settings(url="https://host/base").key, "k")
            # The key of one service is not sent to another.
            self.assertIsNone(settings(url="https://other").key)
            self.assertEqual(settings(url="http://[::1]:5").authority, "[::1]:5")
        with mock.patch.dict(os.environ, clear=True):
            self.assertEqual((settings().endpoint, settings().key), ("http://127.0.0.1:8080", None))
        for wrong in ("ftp://a", "http://", "http://user:secret@a", "http://a?x=1"):
            with self.assertRaises(InvalidArgumentError):
                settings(url=wrong)
        with self.assertRaises(InvalidArgumentError):
            settings(key="a\r\nb")

    def test_what_needs_tls_is_refused_without(self) -> None:
        context = ssl.create_default_context()
        for options in ({"tls": context}, {"ca_file": "/x"}):
            with self.assertRaises(InvalidArgumentError):
                settings(url="http://host", **options)
        with self.assertRaises(InvalidArgumentError):
            settings(url="https://host", tls=context, ca_file="/x")
        self.assertIs(settings(url="https://host", tls=context).tls, context)


class Errors(TestCase):
    def test_all_errors_can_be_pickled(self) -> None:
        kinds = [each for each in vars(errors).values() if inspect.isclass(each) and each.__module__ == errors.__name__]
        for kind in kinds:
            made = kind(CommandResult(exit_code=7)) if kind is CommandError else kind("x", code="C", details=[1])
            for again in (pickle.loads(pickle.dumps(made)), copy.copy(made)):
                self.assertIs(type(again), kind)
                self.assertEqual((str(again), again.args, vars(again)), (str(made), made.args, vars(made)))


class Interface(TestCase):
    def test_both_clients_have_the_same_documented_methods(self) -> None:
        pairs = [(Sandbox, AsyncSandbox), (Paddock, AsyncPaddock), (Process, AsyncProcess), (Session, AsyncSession)]
        pairs += [(Api, AsyncApi), (Files, AsyncFiles)]
        for synchronous, asynchronous in pairs:
            public = {name for name in dir(synchronous) if not name.startswith("_")}
            self.assertEqual(public, {name for name in dir(asynchronous) if not name.startswith("_")})
            for name in public:
                self.assertTrue(inspect.getdoc(getattr(synchronous, name)), f"{synchronous.__name__}.{name}")

    def test_everything_public_is_documented(self) -> None:
        for name in paddock_sandbox.__all__:
            value = getattr(paddock_sandbox, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                self.assertTrue(inspect.getdoc(value), name)
