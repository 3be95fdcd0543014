#!/usr/bin/env python3
"""Holds what permcheck trace sees against strace: complete.py FOLDER PERMCHECK WAY [NAME...]. WAY is bpf or ptrace.

Each program runs twice in equal places, once under each. The sets of refused calls must be equal: operation, path and
errno. Prints what only one of them saw, and last how much was compared. Wants root, strace and namespaces of its own.
"""
import json, os, re, shutil, subprocess, sys

folder, permcheck, way, names = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
UID = 5  # games, for programs that want to know their user
LIMIT = int(os.environ.get("LIMIT", 300))
COUNTED = {"EACCES", "EPERM", "EROFS"}
ENVIRONMENT = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C", "HOME": "/nowhere", "TERM": "dumb", "TMPDIR": "/tmp"}

THREADS = r"""
import threading, os, sqlite3
def look(n):
    for name in "/etc/shadow", "/etc/gshadow", "/root/x%d" % n, "/proc/1/environ":
        try: os.open(name, os.O_RDONLY)
        except OSError: pass
    os.chdir("/etc") if n == 999 else None
all = [threading.Thread(target=look, args=(n,)) for n in range(40)]
[t.start() for t in all]; [t.join() for t in all]
"""
SQLITE = r"""
import sqlite3, os
for name in "/etc/x.db", "/root/x.db", "readonly.db":
    try:
        db = sqlite3.connect(name)
        db.execute("create table t (a)")
        db.commit()
    except sqlite3.Error as e: print(e)
"""
SCRIPT = r"""
cat /etc/shadow; cd /etc; cat ./gshadow; rm passwd; mv passwd /tmp/p; ln passwd p; mkdir /usr/local/x; true >/etc/no
chmod 777 /etc/passwd; chown 1 /etc/passwd; kill -9 1; nice -n -5 true; hostname x; mount none /mnt; chroot / true; touch /etc
find /etc/ssl -newer /etc/shadow; cd /root; ls -l /root; test -r /etc/shadow; [ -x /root/a ]; exec /etc/shadow
"""
PROGRAMS = {
    "find": ["find", "/etc", "/root", "/proc/1"],
    "tar": ["tar", "-cf", "/dev/null", "/etc", "/var/log"],
    "git": ["sh", "-c", "git init -q r; cd r; echo a >a; git add a; git -c user.name=a -c user.email=b commit -qm a; chmod 0 .git/objects; git log; git gc; chmod 700 .git/objects"],
    "python with threads": ["/usr/bin/python3", "-c", THREADS],
    "sqlite3": ["/usr/bin/python3", "-c", SQLITE],
    "ssh-keygen": ["sh", "-c", "ssh-keygen -q -N '' -t ed25519 -f /etc/key; ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key; ssh-keygen -q -N '' -t ed25519 -f key <&-"],
    "apt-get": ["apt-get", "-o", "Debug::NoLocking=0", "update"],
    "make": ["make", "-s", "-j2", "-k"],
    "a shell script": ["sh", "-c", SCRIPT],
    "a static program": ["/sbin/ldconfig"],
    "cp": ["cp", "-a", "/etc/ssl", "/etc/shadow", "/root", "copies"],
    "install": ["install", "-D", "-m", "644", "plain", "/usr/local/x/y"],
    "rg": ["rg", "--no-ignore", "-j2", "root:", "/etc"],
    "v4l2-ctl": ["v4l2-ctl", "-d", "/dev/video0", "--all"],
    "arecord": ["arecord", "-q", "-d", "1", "-f", "S16_LE", "/dev/null"],
    "restic": ["restic", "init", "-r", "/root/backup", "--password-command", "echo a"],
}


def place():
    """An equal folder for each run."""
    path = f"{folder}/place"
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(f"{path}/copies")
    for number in range(10):
        with open(f"{path}/f{number}.c", "w") as file:
            file.write('#include "/root/secret.h"\nint a;\n' if number % 3 == 0 else "int a;\n")
    with open(f"{path}/Makefile", "w") as file:
        file.write("all: $(patsubst %.c,%.o,$(wildcard *.c)) /etc/made\n%.o: %.c\n\tcc -c $< -o $@\n/etc/made:\n\ttouch $@\n")
    open(f"{path}/plain", "w").close()
    open(f"{path}/readonly.db", "w").close()
    for top, folders, files in os.walk(path):
        for name in [".", *files]:
            os.chown(f"{top}/{name}", UID, UID)
    os.chown(f"{path}/readonly.db", 0, 0)
    os.chmod(path, 0o755)
    return path


def traced(words, path):
    out = f"{folder}/out.json"
    subprocess.run([permcheck, "trace", "--by", way, "--json", "--follow", "-o", out, "--", "setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--inh-caps=-all", *words],
                   cwd=path, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=LIMIT)
    found = set()
    for line in open(out):
        item = json.loads(line)
        if item["errno"] in COUNTED:
            found.add((item.get("operation"), item.get("path"), item["errno"]))
    return found


QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
CALL = re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(\w+)\((.*)\) += -1 (E\w+)")
HALF = re.compile(r"^(?:\[pid +\d+\] |(\d+) +)(\w+)\((.*) <unfinished \.\.\.>$")
REST = re.compile(r"^(?:\[pid +\d+\] |(\d+) +)<\.\.\. (\w+) resumed>(.*)$")


def straced(words, path):
    out = f"{folder}/out.strace"
    subprocess.run(["strace", "-f", "-y", "-s", "8192", "-o", out, "setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--inh-caps=-all", *words],
                   cwd=path, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=LIMIT)
    found, halves = set(), {}
    for line in open(out, errors="surrogateescape"):
        line = line.rstrip("\n")
        if match := HALF.match(line):
            halves[match[1]] = f"{match[1]} {match[2]}({match[3]}"
            continue
        if match := REST.match(line):
            line = halves.pop(match[1], "") + match[3]
        match = CALL.match(line)
        if not match or match[3] not in COUNTED:
            continue
        call, arguments, errno = match.groups()
        quoted = [text.encode(errors="surrogateescape").decode("unicode_escape").encode("latin-1").decode(errors="surrogateescape") for text in QUOTED.findall(arguments)]
        directory = re.match(r"(?:AT_FDCWD|\d+)<([^>]*)>, ", arguments)
        object = re.match(r"\d+<([^>]*)>", arguments)
        # The first path of mount is the device, which is not looked up before the rights are.
        name = quoted[1:2] if call == "mount" else quoted[:1]
        found.add((call, (directory[1] if directory else None, name[0]) if name else object[1] if object else None, errno))
    return found


def is_equal(ours, theirs):
    """Whether a path of ours is what strace has: it knows no working directory of calls without one."""
    if isinstance(theirs, tuple):
        directory, name = theirs
        if name.startswith("/"):
            return ours == name
        return ours is not None and (ours == f"{directory}/{name}".rstrip("/") or ours == f"{directory}/{name}" if directory else ours.endswith("/" + name))
    # A descriptor of what has no path, such as a pipe.
    return ours == theirs or (theirs is not None and ours is None and not theirs.startswith("/")) or (theirs is None and ours is None)


# strace shows the first string of these, which is no path.
NO_PATH = {"kill", "tgkill", "setpriority", "sethostname", "prctl", "sched_setattr", "sched_setscheduler", "ioctl", "setxattr"}


count = wrong = 0
for name, words in PROGRAMS.items():
    if names and name not in names or not names and not shutil.which(words[0], path=ENVIRONMENT["PATH"]):
        continue
    theirs, ours = straced(words, place()), traced(words, place())
    left = set(ours)
    for call, path, errno in sorted(theirs, key=str):
        count += 1
        same = [one for one in ours if one[0] == call and one[2] == errno and (call in NO_PATH or is_equal(one[1], path))]
        if not same:
            wrong += 1
            print(f"{name}: only strace saw {call} {path} {errno}")
        left -= set(same)
    for one in sorted(left, key=str):
        wrong += 1
        print(f"{name}: only permcheck saw {' '.join(map(str, one))}")
    print(f"{name}: {len(theirs)} refusals", flush=True)
print(f"{count} compared; {wrong} wrong")
sys.exit(wrong > 0)
