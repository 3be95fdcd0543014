"""Tests of what happens over time: plan, consent, revoke, wait, watch, cancel; and the same for asyncio.

Run by Scripts/check-library beside test_permissionkit.py, as root and as an ordinary user.
"""

import asyncio
import copy
import os
import pathlib
import pickle
import signal
import tempfile
import threading
import time
import unittest

import permissionkit
from permissionkit import Cancellation, PermissionKitError, Status, aio

ROOT = os.geteuid() == 0


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=".")).resolve()
        # Root asks for somebody else, who must get here.
        self.folder.chmod(0o755)
        self.folder.parent.chmod(0o755)
        self.path = self.folder / "shut"
        self.path.mkdir()
        self.path.chmod(0)
        # Root is refused nothing, so there somebody else asks.
        self.asked = {"path": self.path, "need": "rx", **({"user": "nobody"} if ROOT else {})}

    def mode(self):
        return self.path.stat().st_mode & 0o777

    def later(self, action):
        thread = threading.Timer(0.2, action)
        thread.start()
        self.addCleanup(thread.join)


class Plans(Case):
    def test_a_plan_changes_nothing(self):
        result = permissionkit.plan("photos", **self.asked)
        self.assertEqual(result.status, Status.DENIED)
        self.assertIn(str(self.path), result.plan)
        self.assertIsNone(result.outcome)
        self.assertEqual(self.mode(), 0)
        self.path.chmod(0o755)
        self.assertIsNone(permissionkit.plan("photos", **self.asked).plan)

    def test_consent_is_asked_for_the_plan(self):
        plan = permissionkit.plan("photos", **self.asked).plan
        seen = []
        result = permissionkit.request("photos", consent=lambda text: seen.append(text), **self.asked)
        self.assertEqual((result.outcome, seen, self.mode()), ("declined", [plan], 0))
        result = permissionkit.request("photos", consent=lambda text: True, **self.asked)
        self.assertEqual((result.outcome, result.granted, result.plan), ("granted", True, plan))
        result = permissionkit.revoke("photos", **self.asked)
        self.assertEqual((result.outcome, result.status, self.mode()), ("revoked", Status.DENIED, 0))
        self.assertEqual(permissionkit.revoke("photos", **self.asked).outcome, "nothing-to-change")

    def test_a_consent_that_raises_is_none(self):
        def fail(plan):
            raise KeyError("consent")

        with self.assertRaisesRegex(KeyError, "consent"):
            permissionkit.request("photos", consent=fail, **self.asked)
        self.assertEqual(self.mode(), 0)

    def test_who_cancels_meanwhile_changes_nothing(self):
        cancellation = Cancellation()

        def agree(plan):
            cancellation.cancel()
            return True

        for _ in range(2):
            with self.assertRaises(PermissionKitError) as raised:
                permissionkit.request("photos", consent=agree, cancellation=cancellation, **self.asked)
            self.assertEqual((raised.exception.code, self.mode()), ("withdrawn", 0))

    def test_operations(self):
        file = self.folder / "file"
        file.write_text("")
        self.assertTrue(permissionkit.explain(file, to="delete"))
        self.assertTrue(permissionkit.explain(file, to="rename", target=self.folder / "other"))
        self.assertEqual(bool(permissionkit.explain("/etc/passwd", to="delete")), ROOT)
        for wrong in ({"to": "rename"}, {"to": "eat"}, {"target": "/tmp"}):
            with self.assertRaises(PermissionKitError):
                permissionkit.explain(file, **wrong)

    def test_accessors(self):
        found = permissionkit.accessors()
        for name in ("camera", "microphone", "photos", "serial"):
            self.assertTrue(found[name])

    def test_the_way_to_sound(self):
        for way in ("", "server", "any"):
            self.assertIsInstance(permissionkit.check("microphone", through=way).status, Status)
        with self.assertRaises(ValueError):
            permissionkit.check("microphone", through="alsa")

    def test_errors_pickle_and_copy(self):
        with self.assertRaises(PermissionKitError) as raised:
            permissionkit.check("nothing")
        for same in (pickle.loads(pickle.dumps(raised.exception)), copy.copy(raised.exception)):
            self.assertEqual((same.code, str(same)), ("invalid-argument", str(raised.exception)))
        result = permissionkit.check("camera")
        self.assertEqual(pickle.loads(pickle.dumps(result)), result)


class Waits(Case):
    def test_until_there_is_access(self):
        self.assertFalse(permissionkit.wait("photos", timeout=0.05, **self.asked))
        self.later(lambda: self.path.chmod(0o755))
        self.assertTrue(permissionkit.wait("photos", **self.asked))

    def test_a_cancellation_ends_it(self):
        cancellation = Cancellation()
        self.later(cancellation.cancel)
        with self.assertRaises(PermissionKitError) as raised:
            permissionkit.wait("photos", cancellation=cancellation, **self.asked)
        self.assertEqual(raised.exception.code, "withdrawn")

    def test_a_signal_ends_it(self):
        self.later(lambda: os.kill(os.getpid(), signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            permissionkit.wait("photos", **self.asked)

    def test_no_time(self):
        for wrong in (-1, float("nan")):
            with self.assertRaises(ValueError):
                permissionkit.wait("photos", timeout=wrong, **self.asked)

    def test_watch(self):
        with permissionkit.watch("photos", **self.asked) as watch:
            self.assertEqual(next(watch).status, Status.DENIED)
            self.assertIsNone(watch.get(timeout=0.05))
            self.path.chmod(0o755)
            self.assertEqual(next(iter(watch)).status, Status.AUTHORIZED)
        with self.assertRaises(ValueError):
            watch.get()
        with permissionkit.watch("nothing") as watch, self.assertRaises(PermissionKitError):
            next(watch)


class Async(Case, unittest.IsolatedAsyncioTestCase):
    async def test_the_same_functions(self):
        for name in ("check", "plan", "request", "revoke", "wait"):
            options = {"timeout": 0.05} if name == "wait" else {}
            one = await getattr(aio, name)("photos", **options, **self.asked)
            two = getattr(permissionkit, name)("photos", **options, **self.asked)
            if name == "request":
                self.assertEqual((one.outcome, two.outcome, one.granted), ("granted", None, True))
            elif name == "revoke":
                self.assertEqual((one.outcome, two.outcome), ("revoked", "nothing-to-change"))
            else:
                self.assertEqual((one.line, one.plan), (two.line, two.plan))
        self.assertEqual(await aio.accessors(), permissionkit.accessors())
        self.assertTrue(await aio.explain("/"))

    async def test_a_cancelled_request_changes_nothing(self):
        begun, answered = threading.Event(), threading.Event()

        def agree(plan):
            begun.set()
            answered.wait(20)
            return True

        task = asyncio.ensure_future(aio.request("photos", consent=agree, **self.asked))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.sleep(0.05)
        answered.set()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(self.mode(), 0)

    async def test_a_cancelled_wait_ends(self):
        task = asyncio.ensure_future(aio.wait("photos", **self.asked))
        await asyncio.sleep(0.1)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        # By a time limit too.
        begun = time.monotonic()
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(aio.wait("photos", **self.asked), 0.1)
        self.assertLess(time.monotonic() - begun, 15)

    async def test_watch(self):
        seen = []
        async for result in aio.watch("photos", **self.asked):
            seen.append(result.status)
            if len(seen) == 2:
                break
            self.path.chmod(0o755)
        self.assertEqual(seen, [Status.DENIED, Status.AUTHORIZED])


if __name__ == "__main__":
    unittest.main()
