"""The systems on which histories are played: this kernel with permcheck, or one in memory."""

import errno
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import ground
import kernel
from ground import State, acl_text, kernel_rights, letters, write_entries
from promise import Fault

CALL_LIMIT = 60  # seconds
WORK = "/var/lib/work"
JOURNAL = "/var/lib/permcheck/grants.jsonl"
SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Storage/server.py")
PREAMBLE = [
    "# as root: unshare -m --propagation private bash, P=permcheck, and there",
    "mount -t tmpfs -o mode=755 tmpfs /var/lib; export PERMCHECK_LOG=none",
    f"mkdir -p {WORK}/m {WORK}/t; cd {WORK}; mount -t tmpfs -o mode=755 tmpfs t",
]
PREAMBLE_IMAGE = [
    "truncate -s 4M image; mkfs.ext4 -q -O ^has_journal image; mount -o loop image m; chmod 755 m"
]


class KernelWorld:
    """The running kernel, with permcheck, in namespaces of our own."""

    root, can_reboot = WORK, False
    # What may stand in the place of a folder: links that lead nowhere, and servers.
    obstacles = ["loop", "long", "shut", "silent", "dead"]

    def __init__(self, random, permcheck, holder, image):
        self.random, self.permcheck, self.holder, self.image = random, permcheck, holder, image
        self.commands = list(PREAMBLE) + (PREAMBLE_IMAGE if image else [])
        self.has_image, self.is_covered, self.looks, self.runs = bool(image), False, 0, 0
        self.servers = {}  # by mount point
        self.environment = dict(os.environ, PERMCHECK_LOG="none")

    def note(self, command):
        self.commands.append(command)

    # Inodes

    def state(self, path):
        return State.read(path)

    def compare(self, path, state, uid, gid):
        if path.startswith("/proc/"):
            return  # another user cannot ask through our descriptor
        says = kernel_rights(path, uid, gid)
        if says != state.rights(uid, gid):
            raise Fault(f"model: the kernel gives {uid} {letters(says)}: {state}")

    def gives(self, path, uid, need):
        # Listing a folder wants r, changing it wants w and x at once.
        return all(kernel_rights(path, uid, uid, bits) for bits in (need & 4, need & 3))

    def set_entries(self, path, entries):
        if len(entries) == 3:
            bits = acl_text(entries).replace("u::", "u=").replace("g::", "g=").replace("o::", "o=")
            self.note(f"setfacl -b {path}; chmod {bits.replace('-', '')} {path}")
        else:
            self.note(f"setfacl -n --set {acl_text(entries)} {path}")
        write_entries(path, entries)

    def chmod(self, path, mode):
        self.note(f"chmod {mode:o} {path}")
        os.chmod(path, mode)

    def chown(self, path, uid, gid):
        self.note(f"chown {uid}:{gid} {path}")
        os.chown(path, uid, gid)

    def make(self, path, mode, uid, gid):
        os.mkdir(path)
        os.chmod(path, mode)
        os.chown(path, uid, gid)
        self.note(f"mkdir {path}; chmod {mode:o} {path}; chown {uid}:{gid} {path}")

    def delete(self, path, is_replaced):
        os.rmdir(path)
        self.note(f"rmdir {path}")

    def move(self, old, new):
        os.rename(old, new)
        self.note(f"mv {old} {new}")

    def link(self, target, path):
        os.symlink(target, path)
        self.note(f"ln -s {target} {path}")

    def unlink(self, path):
        """Removes a link or a server, if one is there; returns whether the name is free then."""
        if path in self.servers:
            self.end_server(path)
            os.rmdir(path)
            self.note(f"rmdir {path}")
        if os.path.islink(path):
            os.unlink(path)
            self.note(f"rm {path}")
        return not os.path.lexists(path)

    # Mounts

    @property
    def is_away(self):
        return not self.image.is_mounted

    def serve(self, kind, point):
        """Mounts a server: it lets nobody but its user in, never answers, or has ended."""
        words = [point, "61400", *{"shut": ["all"], "silent": ["0", "allow_other"], "dead": ["all"]}[kind]]
        self.note(f"server.py {' '.join(words)} &  # {kind}, of Tests/permcheckTests/Storage")
        server = subprocess.Popen(
            [sys.executable, SERVER, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        if server.stdout.readline() != "mounted\n":
            raise RuntimeError("no server was mounted")
        server.stdout.close()
        self.servers[point] = server
        if kind == "dead":
            self.note("kill -9 $!; wait")
            server.kill()
            server.wait()

    def end_server(self, point):
        server = self.servers.pop(point)
        server.kill()
        server.wait()
        self.note(f"umount -l {point}")
        kernel.unmount(point, detaches=True)

    def obstruct(self, kind, path):
        if kind in ("loop", "long"):
            return self.link("x" * 300 if kind == "long" else os.path.basename(path), path)
        os.mkdir(path)
        self.note(f"mkdir {path}")
        return self.serve(kind, path)

    def cover(self):
        kind = self.random.choice(["tmpfs", "shut", "silent", "dead"])
        if kind == "tmpfs":
            self.note(f"mount -t tmpfs -o mode=755 tmpfs {WORK}/m  # above the image")
            kernel.mount("tmpfs", self.image.point, "tmpfs", data="mode=755")
        else:
            self.serve(kind, self.image.point)
        self.is_covered = True

    def uncover(self):
        if self.image.point in self.servers:
            self.end_server(self.image.point)
        else:
            self.note(f"umount {WORK}/m  # what covers the image")
            kernel.unmount(self.image.point)
        self.is_covered = False

    def unmount(self):
        for point in [point for point in self.servers if point.startswith(self.image.point + "/")]:
            self.end_server(point)
        self.note(f"umount {WORK}/m")
        self.image.unmount()

    def mount(self):
        other = self.random.random() < 0.6
        self.note(f"mount -o loop image {WORK}/m  # {'another' if other else 'any'} loop device")
        self.image.mount(takes_other_number=other)

    # permcheck

    def start(self, arguments, program=None):
        return subprocess.Popen(
            [program or self.permcheck, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=self.environment, start_new_session=True,
        )  # fmt: skip

    def call(self, arguments, quiet=False):
        process = self.start(arguments)
        try:
            output, _ = process.communicate(timeout=CALL_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Fault(f"permcheck {' '.join(arguments)} did not end") from None
        if not quiet:
            self.note(f"$P {' '.join(arguments)}   # ended with {process.returncode}")
        if process.returncode in (64, 70) or process.returncode < 0:
            call = f"permcheck {' '.join(arguments)}"
            raise Fault(f"{call} ended with {process.returncode}: {output}")
        return process.returncode, output

    def call_killed(self, arguments):
        """SIGKILL at a random moment; returns whether it came in time."""
        delay = self.random.uniform(1, 20)
        process = self.start(arguments)
        time.sleep(delay / 1000)
        process.kill()
        process.communicate()
        self.note(f"$P {' '.join(arguments)} & sleep {delay / 1000:.4f}; kill -9 $!; wait")
        return process.returncode == -9

    def listed(self):
        _, output = self.call(["list", "--grants", "--json"], quiet=True)
        return {grant["id"]: (grant["uid"], grant["stage"]) for grant in json.loads(output)["grants"]}

    def journal(self):
        """The lines of the journal."""
        try:
            with open(JOURNAL) as file:
                return [json.loads(line) for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def open_leases(self):
        """The uid of each lease, from the journal; `list`, which is slower, every fifth time."""
        uids = {}
        for row in self.journal():
            if row["event"] == "intent":
                uids[row["id"]] = row["uid"]
            for identifier in [row["id"]] if row["event"] == "undone" else row.get("leased", {}).get("ended", []):
                uids.pop(identifier, None)
        self.looks += 1
        if self.looks % 5:
            return uids
        listed = {identifier: uid for identifier, (uid, _) in self.listed().items()}
        if listed != uids:
            raise Fault(f"the journal has {uids}, but list says {listed}")
        return listed

    def expire(self, leases):
        """Lets the hour of some of the leases be over; returns these."""
        chosen = [lease for lease in leases if self.random.random() < 0.7] or leases
        with open(JOURNAL) as file:
            lines = file.read().split("\n")
        for lease in chosen:
            for number, line in enumerate(lines):
                if f'"id":"{lease.identifier}"' in line:
                    lines[number] = re.sub(r'"expires":\d+', '"expires":1000000', line)
            script = f"/\"id\":\"{lease.identifier}\"/s/\"expires\":[0-9]*/\"expires\":1000000/"
            self.note(f"sed -i '{script}' {JOURNAL}  # the {lease}")
        with open(JOURNAL, "w") as file:
            file.write("\n".join(lines))
        return chosen

    # Runs

    def start_run(self, arguments):
        """The run, None if its command did not start; the exit status then, and the output."""
        self.runs += 1
        fifo = f"{WORK}/fifo{self.runs}"
        os.mkfifo(fifo)
        # As `permcheck run` does for its own user.
        path, uid, need = arguments[1].removeprefix("photos="), arguments[3], arguments[7]
        arguments = ["hold", path, uid, need, "sh", "-c", f"echo up; read x <{fifo}"]
        shown = " ".join(arguments[:-1])
        self.note(f"mkfifo {fifo}; lease-player {shown} 'echo up; read x <{fifo}' &  # until it prints `up`")
        process = self.start(arguments, self.holder)
        process.fifo = fifo
        text, deadline = "", time.monotonic() + CALL_LIMIT
        while "up\n" not in text:
            ready, _, _ = select.select([process.stdout], [], [], deadline - time.monotonic())
            if not ready:
                raise Fault(f"permcheck {shown} neither started nor ended")
            piece = os.read(process.stdout.fileno(), 4096).decode()
            if not piece:
                break
            text += piece
        if "up\n" in text:
            return process, 0, text
        status = process.wait()
        self.note(f"# which ended with {status}")
        return None, status, text

    def kill_run(self, process):
        self.note(f"kill -9 -- -GROUP of the run with {process.fifo}")
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def end_run(self, process):
        """Lets the command of a run end, which opens the other end of its pipe in its own time."""
        self.note(f"echo >{process.fifo}; wait  # for that run")
        deadline = time.monotonic() + CALL_LIMIT
        while process.poll() is None:
            try:
                pipe = os.open(process.fifo, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                if time.monotonic() > deadline:
                    raise Fault("the command of a run never started") from None
                time.sleep(0.001)
                continue
            os.write(pipe, b"\n")
            os.close(pipe)
            break
        try:
            output, _ = process.communicate(timeout=CALL_LIMIT)
        except subprocess.TimeoutExpired:
            raise Fault("a run did not end") from None
        return process.returncode, output

    def clean_up(self, runs):
        for process in runs:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.communicate()
        if self.is_covered and self.image.point not in self.servers:
            kernel.unmount(self.image.point, detaches=True)
        for point in list(self.servers):
            self.end_server(point)


class MemoryWorld:
    """permcheck's own code on a system in memory, behind `lease-player`."""

    root, has_image, can_reboot, is_covered, obstacles = "/srv", True, True, False, []

    def __init__(self, random, player):
        self.random, self.player = random, player
        self.commands = ["# for lease-player"]
        self.is_away, self.runs, self.links, self.reusable = False, 100, set(), None
        self.tell("new")

    def tell(self, *words):
        line = " ".join(str(word) for word in words)
        self.commands.append(line)
        self.player.stdin.write(line + "\n")
        self.player.stdin.flush()
        ready, _, _ = select.select([self.player.stdout], [], [], CALL_LIMIT)
        answer = self.player.stdout.readline() if ready else ""
        if not answer:
            raise Fault(f"lease-player does not answer to {line}")
        self.told = json.loads(answer)
        self.commands[-1] += f"   # {self.told['status']} {self.told['note']}"
        return self.told["status"], self.told["note"]

    def change(self, *words):
        status, note = self.tell(*words)
        if status:
            raise RuntimeError(f"{words}: {note}")

    # Inodes

    def state(self, path):
        mode, uid, gid, rows = self.told["nodes"][path]
        return State.of(mode, uid, gid, rows)

    def compare(self, path, state, uid, gid):
        """There is no kernel; the evaluator of this system is held to one elsewhere."""

    def gives(self, path, uid, need):
        state = self.state(path)
        return all(state.allows(uid, uid, bits) for bits in (need & 4, need & 3))

    def set_entries(self, path, entries):
        numbers = {"u": 1, "g": 4, "m": 16, "o": 32}
        rows = [
            f"{numbers[kind] * (1 if who == '' else 2)}:{4294967295 if who == '' else who}:{rights}"
            for (kind, who), rights in ground.sorted_entries(entries)
        ]
        self.change("acl", path, ",".join(rows))

    def chmod(self, path, mode):
        self.change("chmod", path, f"{mode:o}")

    def chown(self, path, uid, gid):
        self.change("chown", path, uid, gid)

    def make(self, path, mode, uid, gid):
        word = "reuse" if path == self.reusable else "mkdir"
        self.reusable = None
        self.change(word, path, f"{mode:o}", uid, gid)

    def delete(self, path, is_replaced):
        """Perhaps the folder that replaces it gets its number."""
        if is_replaced and self.random.random() < 0.5:
            self.reusable = path
        else:
            self.change("rmdir", path)

    def move(self, old, new):
        self.change("mv", old, new)

    def link(self, target, path):
        self.change("ln", target, path)
        self.links.add(path)

    def unlink(self, path):
        if path in self.links:
            self.links.remove(path)
            self.change("rmdir", path)
        return path not in self.told["nodes"]

    # Mounts

    def unmount(self):
        self.is_away = True
        self.change("unmount")

    def mount(self):
        self.is_away = False
        self.change("mount")

    def reboot(self, runs):
        self.is_away = False
        for run in runs:
            self.change("end", run)
        self.change("reboot")

    # permcheck

    def words(self, arguments):
        if arguments[0] == "revoke":
            selected = arguments[-1].removeprefix("--")
            return "revoke", selected
        options = dict(zip(arguments, arguments[1:]))
        path, end = arguments[1].removeprefix("photos="), "t" if "--for" in options else "-"
        return "request", path, options["--uid"], options["--need"], end

    def call(self, arguments, quiet=False):
        status, note = self.tell(*self.words(arguments))
        if status == 3 and not note.startswith("changeFailed"):
            raise Fault(f"{' '.join(arguments)}: {note}")
        return status, note

    def call_killed(self, arguments):
        self.tell("kill", self.random.randrange(400), *self.words(arguments))
        return True

    def listed(self):
        return {identifier: tuple(lease) for identifier, lease in self.told["leases"].items()}

    def journal(self):
        self.tell("journal")
        return [json.loads(line) for line in self.told["note"].split("\n") if line]

    def open_leases(self):
        return {identifier: uid for identifier, (uid, _) in self.listed().items()}

    def expire(self, leases):
        self.change("later")
        return leases

    # Runs

    def start_run(self, arguments):
        self.runs += 1
        self.change("start", self.runs)
        words = self.words(arguments)[:-1]
        status, note = self.tell(*words, f"p{self.runs}")
        return (self.runs if status == 0 else None), status, note

    def kill_run(self, run):
        self.change("end", run)

    def end_run(self, run):
        ended = self.tell("ended", run)
        told = self.told
        self.change("end", run)
        self.told = told
        return ended

    def clean_up(self, runs):
        pass
