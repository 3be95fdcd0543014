"""Tests of the package against the library and against permcheck itself.

Run by Scripts/check-library, as root and as an ordinary user, in an empty folder that may be written;
PERMCHECK names the built permcheck.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import permissionkit
from permissionkit import PermissionKitError, Status, check, explain, request

PERMCHECK = os.environ["PERMCHECK"]
ROOT = os.geteuid() == 0


def permcheck(*arguments):
    environment = {**os.environ, "PERMCHECK_LOG": "none", "LC_ALL": "C.UTF-8"}
    return subprocess.run([PERMCHECK, *map(os.fsencode, arguments)], capture_output=True, env=environment)


def document(text):
    """A document without what differs from one look to the next."""
    loaded = json.loads(text)
    loaded.pop("time", None)
    return loaded


def squeezed(line):
    """A line without the blanks that align it."""
    return re.sub(" +", " ", line).strip()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir="."))
        self.folder = self.folder.resolve()

    def made(self, name, mode, is_folder=False):
        path = self.folder / name
        path.mkdir() if is_folder else path.write_text("")
        path.chmod(mode)
        return path


class Checks(Case):
    def test_a_denial_raises_nothing(self):
        for name in ("camera", "microphone", "mic", "photos"):
            result = check(name)
            self.assertIsInstance(result.status, Status)
            self.assertEqual(bool(result), result.status in (Status.AUTHORIZED, Status.LIMITED))

    def test_counts_as_access_what_the_tool_counts(self):
        folders = [self.made(f"g{mode:o}", mode, True) for mode in range(0o000, 0o1000, 0o100)]
        folders += [self.made(f"o{mode:o}", 0o700 | mode, True) for mode in range(0o10)]
        questions = [
            (folder, user, need, strict)
            for folder in [*folders, self.folder / "none"]
            for user in (None, 65534)
            for need in ("", "rx", "w")
            for strict in (False, True)
        ]
        self.assertGreaterEqual(len(questions), 200)
        seen = set()
        for folder, user, need, strict in questions:
            arguments = [f"photos={folder}", "--json"]
            arguments += ["--all"] if strict else []
            arguments += ["--user", str(user)] if user is not None else []
            arguments += ["--need", need] if need else []
            with self.subTest(arguments):
                options = {"path": folder, "user": user, "need": need, "all": strict}
                result, asked = check("photos", **options), request("photos", **options, ask=True)
                printed = permcheck(*arguments)
                [report] = json.loads(printed.stdout)["reports"]
                [own] = result.document["reports"]
                answers = [
                    result.granted, asked.granted, bool(result), printed.returncode == 0,
                    report["granted"], own["granted"], result.document["exitStatus"] == 0,
                    # Of the status alone.
                    result.status is Status.AUTHORIZED or result.status is Status.LIMITED and not strict,
                ]
                self.assertEqual(len(set(answers)), 1, answers)
                seen.add((result.status, strict, result.granted))
        self.assertIn((Status.AUTHORIZED, True, True), seen)
        self.assertIn((Status.DENIED, True, False), seen)
        if not ROOT:
            self.assertLessEqual({(Status.LIMITED, True, False), (Status.LIMITED, False, True)}, seen)

    def test_prints_as_the_tool_does(self):
        folders = [self.made(f"p{mode:o}", mode, True) for mode in (0o000, 0o300, 0o500, 0o700)]
        questions = [("camera", {}, ["camera"]), ("mic", {}, ["mic"]), ("photos", {}, ["photos"])]
        for folder in [*folders, self.folder / "none"]:
            questions.append(("photos", {"path": folder}, [f"photos={folder}"]))
            questions.append(("photos", {"path": folder, "user": 65534}, [f"photos={folder}", "--user", "65534"]))
            questions.append(("photos", {"path": folder, "need": "rx"}, [f"photos={folder}", "--need", "rx"]))
            questions.append(("camera", {"path": folder}, [f"camera={folder}"]))
        seen = set()
        for name, options, arguments in questions:
            with self.subTest(arguments):
                result = check(name, **options)
                printed = permcheck(*arguments).stdout.decode()
                self.assertEqual(squeezed(str(result)), squeezed(printed.split("\n")[0]))
                self.assertNotIn("\n", str(result))
                seen.add(result.status)
        self.assertLessEqual({Status.AUTHORIZED, Status.DENIED, Status.UNAVAILABLE}, seen)
        if not ROOT:
            self.assertIn(Status.LIMITED, seen)

    def test_finds_what_the_tool_finds(self):
        declarations = self.folder / "config/permcheck/accessors.d"
        declarations.mkdir(parents=True)
        place = self.made("scans", 0o700, True)
        (declarations / "scans.toml").write_text(
            f'name = "scans"\naliases = ["paper"]\nsummary = "s"\ndirectory = "{place}"\n'
        )
        program = self.made("permcheck-accessor-thing", 0o755)
        program.write_text("#!/bin/sh\necho '{\"version\":1,\"status\":\"denied\",\"message\":\"it is shut\"}'\n")
        environment = {"XDG_CONFIG_HOME": str(self.folder / "config"), "PATH": f"{self.folder}:{os.environ['PATH']}"}
        names = ["serial", "tty", "gpu", "docker", "home", "scans", "paper", "thing"]
        with unittest.mock.patch.dict(os.environ, environment):
            for name in names:
                with self.subTest(name):
                    printed = permcheck(name).stdout.decode()
                    self.assertEqual(squeezed(str(check(name))), squeezed(printed.split("\n")[0]))
                    self.assertEqual(document(check(name).json), document(permcheck("check", name, "--json").stdout))
            self.assertEqual(check("scans").status, Status.AUTHORIZED)
            self.assertEqual(check("thing").status, Status.NOT_DETERMINED if ROOT else Status.DENIED)
        for name in ("scans", "paper", "thing"):
            with self.assertRaisesRegex(PermissionKitError, "there is no accessor"):
                check(name)

    def test_json_is_that_of_the_tool(self):
        shut = self.made("shut", 0o000, True)
        open_ = self.made("open", 0o755, True)
        for options, arguments in [
            ({}, []),
            ({"user": "nobody"}, ["--user", "nobody"]),
            ({"all": True}, ["--all"]),
            ({"need": "rx"}, ["--need", "rx"]),
        ]:
            for path in (shut, open_, self.folder / "none"):
                printed = permcheck("check", f"photos={path}", *arguments, "--json")
                self.assertEqual(document(check("photos", path=path, **options).json), document(printed.stdout))
        for name in ("camera", "mic", "photos"):
            self.assertEqual(document(check(name).json), document(permcheck("check", name, "--json").stdout))

    def test_another_process(self):
        if ROOT:
            child = subprocess.Popen(["sleep", "60"], user=65534, group=65534, extra_groups=[])
        else:
            child = subprocess.Popen(["sleep", "60"])
        try:
            secret = self.made("secret", 0o600)
            self.folder.chmod(0o755)
            result = explain(secret, pid=child.pid)
            printed = permcheck("explain", secret, "--pid", str(child.pid), "--json")
            self.assertEqual(document(result.json)["reports"], document(printed.stdout)["reports"])
        finally:
            child.kill()
            child.wait()


class Paths(Case):
    def test_the_kernel_is_the_judge(self):
        granted = 0
        for mode in (0o000, 0o400, 0o200, 0o600, 0o044):
            path = self.made(f"f{mode:o}", mode)
            for need, flags in (("r", os.O_RDONLY), ("w", os.O_WRONLY), ("rw", os.O_RDWR)):
                try:
                    os.close(os.open(path, flags))
                    opens = True
                except PermissionError:
                    opens = False
                result = explain(path, need=need)
                self.assertEqual(bool(result), opens, f"{mode:o} {need}")
                granted += opens
        self.assertEqual(granted, 15 if ROOT else 5)

    def test_explains_as_the_tool_does(self):
        secret = self.made("secret", 0o000)
        odd = os.fsencode(self.folder) + b"/\xff\xfe"
        with open(odd, "wb"):
            pass
        for path in (secret, odd, "/etc/shadow", "/nowhere/at/all", ".", os.fsdecode(odd)):
            result = explain(path)
            printed = permcheck("explain", path if path != "." else "./", "--json")
            if path != ".":
                self.assertEqual(document(result.json), document(printed.stdout))
            self.assertTrue(result.document["reports"][0]["resources"][0]["walk"])
        denied = explain("/etc/shadow", user="nobody")
        self.assertEqual((denied.status, denied.reason), (Status.DENIED, "not-in-group"))
        self.assertEqual(denied.requestable, ROOT)
        self.assertEqual(denied.requestable_by, "caller" if ROOT else "root")
        self.assertIsNone(denied.not_requestable)
        missing = explain("/nowhere/at/all")
        self.assertEqual((missing.requestable, missing.requestable_by), (False, None))
        self.assertIn("/nowhere", missing.not_requestable or "")
        self.assertIn("setfacl", denied.explanation)


class Requests(Case):
    def test_somebodys_own_folder(self):
        shut = self.made("shut", 0o000, True)
        if ROOT:
            self.assertTrue(request("photos", path=shut))
            user = request("photos", path=shut, user=65534, need="rx")
            # The folders above are closed to nobody, too; each is opened for nobody alone.
            self.assertEqual((user.status, user.outcome), (Status.AUTHORIZED, "granted"))
            undone = permcheck("revoke", "photos", "--user", "65534")
            self.assertEqual(undone.returncode, 0, undone.stderr)
            self.assertFalse(check("photos", path=shut, user=65534, need="rx"))
            return
        declined = request("photos", path=shut, ask=True, purpose="the test asks")
        self.assertEqual((declined.status, declined.outcome), (Status.DENIED, "declined"))
        self.assertRaises(PermissionError, os.listdir, shut)
        given = request("photos", path=shut, seconds=3600)
        self.assertEqual((given.status, given.outcome), (Status.AUTHORIZED, "granted"))
        self.assertEqual(os.listdir(shut), [])
        self.assertEqual(given.document["plans"][0]["accessor"], "photos")
        undone = permcheck("revoke", "photos")
        self.assertEqual(undone.returncode, 0, undone.stderr)
        self.assertRaises(PermissionError, os.listdir, shut)

    def test_what_only_root_may_change(self):
        result = request("photos", path="/root", need="rx")
        if ROOT:
            self.assertEqual((result.granted, result.outcome), (True, None))
            return
        self.assertEqual((result.granted, result.outcome), (False, "needs-root"))
        self.assertIn("sudo setfacl", result.explanation)


class Mistakes(Case):
    def test_errors_are_raised(self):
        for code, arguments, options in [
            ("invalid-argument", ["camra"], {}),
            ("unknown-user", ["camera"], {"user": "nobody-of-that-name"}),
            ("unknown-process", ["camera"], {"pid": (1 << 31) - 1}),
            ("invalid-argument", ["camera"], {"user": "root", "pid": 1}),
            ("invalid-argument", ["camera"], {"path": "relative"}),
        ]:
            with self.assertRaises(PermissionKitError) as caught:
                check(*arguments, **options)
            self.assertEqual(caught.exception.code, code)
            self.assertTrue(str(caught.exception))

    def test_what_the_library_has_no_room_for(self):
        for options in ({"need": "q"}, {"pid": 0}, {"pid": -1}, {"pid": 1 << 31}, {"path": "/a\0b"}, {"user": "a\0b"}):
            self.assertRaises(ValueError, check, "camera", **options)
        self.assertRaises(ValueError, request, "camera", seconds=1 << 32)
        self.assertRaises(ValueError, explain, b"/\0")

    def test_the_library_that_the_variable_names(self):
        script = "import permissionkit; permissionkit.check('camera')"
        environment = {**os.environ, "PERMISSIONKIT_LIBRARY": "/nowhere/libpermissionkit.so.1"}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("OSError: /nowhere/libpermissionkit.so.1 cannot be loaded", done.stderr)

    def test_version(self):
        self.assertEqual(permissionkit.version(), permcheck("--version").stdout.decode().strip())


class Threads(Case):
    def test_many_at_once(self):
        secret = self.made("secret", 0o000)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda index: (explain(secret) if index % 2 else check("camera")), range(400)))
        self.assertEqual(len({result.status for result in found[1::2]}), 1)
        self.assertEqual(len({result.line for result in found[0::2]}), 1)


class Silence(Case):
    def test_nothing_is_printed(self):
        script = (
            "import permissionkit as p; p.check('camera'); p.explain('/etc/shadow'); p.request('camera', ask=True)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
