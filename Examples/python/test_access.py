"""Drives access.py as a person does; run by Scripts/check-library as an ordinary user, in a folder of its own."""

import asyncio
import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time
import unittest

from access import AccessApp
from textual.widgets import Static

PROGRAM = pathlib.Path(__file__).with_name("access.py")


@unittest.skipIf(os.geteuid() == 0, "root is refused nothing")
class Access(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.path = pathlib.Path(tempfile.mkdtemp(dir=".")).resolve() / "shut"
        self.path.mkdir()
        self.path.chmod(0)

    def mode(self):
        return self.path.stat().st_mode & 0o777

    async def until(self, pilot, app, widget, text):
        for _ in range(400):
            shown = str(app.query_one(widget, Static).render())
            if text in shown:
                return
            await pilot.pause(0.05)
        self.fail(f"{text!r} is not shown: {shown!r}")

    async def test_refused_agreed_given_back(self):
        app = AccessApp("photos", str(self.path))
        async with app.run_test(size=(120, 40)) as pilot:
            await self.until(pilot, app, "#plan", "Agree? y or n")
            await self.until(pilot, app, "#plan", str(self.path))
            await pilot.press("n")
            await pilot.pause(0.2)
            self.assertEqual(self.mode(), 0)
            await pilot.press("y")
            await self.until(pilot, app, "#state", "granted")
            self.assertNotEqual(self.mode(), 0)
            await pilot.press("r")
            await self.until(pilot, app, "#state", "revoked")
            self.assertEqual(self.mode(), 0)

    async def test_a_change_outside_is_shown(self):
        app = AccessApp("photos", str(self.path))
        async with app.run_test(size=(120, 40)) as pilot:
            await self.until(pilot, app, "#plan", "Agree? y or n")
            self.path.chmod(0o755)
            await self.until(pilot, app, "#state", "authorized")

    async def test_a_name_that_is_none(self):
        app = AccessApp("nothing")
        async with app.run_test() as pilot:
            await self.until(pilot, app, "#state", "there is no accessor")

    def test_without_a_terminal(self):
        for arguments, wanted in (["photos", str(self.path)], 77), (["nothing"], 77), (["photos", "/"], 0):
            done = subprocess.run([sys.executable, PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (wanted, ""), done.stderr)
            self.assertEqual(bool(done.stderr), wanted != 0)
        self.assertEqual(self.mode(), 0)

    def test_at_a_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(sys.executable, [sys.executable, str(PROGRAM), "photos", str(self.path)])
        seen, end = b"", time.monotonic() + 60
        keys = [(b"Agree?", b"y"), (b"granted", b"q")]
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
            if keys and keys[0][0] in seen:
                os.write(terminal, keys.pop(0)[1])
        self.assertEqual(keys, [], seen[-500:])
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main()
