#!/usr/bin/env python3
"""Programs' own rules on owners and modes, beside the programs: programs.py FOLDER PERMCHECK SEED SCENES.

Random owners, modes and ACLs of keys, homes and what is above; ssh-keygen(1), sshd(8), logrotate(8), git(1) and Python's
netrc say whether they accept a file, and `explain --as-used-by` has to say the same. Its fixes are typed, and then the
program accepts the file. A request that makes a program refuse a file changes nothing, and with --despite it does just
that. Wants root, in mount and pid namespaces of its own; a program that is not there is left out.
"""
import json, os, random, shutil, subprocess, sys

import database

base, permcheck, seed, scenes = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rng = random.Random(seed)
ADA, BOB = 4001, 4002
database.add(
    f"ada:*:{ADA}:{ADA}::{base}/p/ada:/bin/sh\nbob:*:{BOB}:{BOB}::/:/bin/sh\nsshd:x:4003:65534::/run/sshd:/bin/false\n",
    f"ada:x:{ADA}:\nbob:x:{BOB}:\n")
base += "/p"
os.mkdir(base)
subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", base], check=True)
subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", "/run"], check=True)
os.mkdir("/run/sshd", 0o755)
os.environ.update(PERMCHECK_LOG="none", HOME=base, LC_ALL="C.UTF-8", GIT_CONFIG_NOSYSTEM="1")
for name in ("host", "login"):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{base}/{name}"], check=True)
with open(f"{base}/sshd_config", "w") as file:
    file.write(f"HostKey {base}/host\nUsePAM no\nPidFile none\nAuthenticationMethods publickey\n")
SSHD = "/usr/sbin/sshd" if os.path.exists("/usr/sbin/sshd") else None
LOGROTATE = shutil.which("logrotate", path="/usr/sbin:/usr/bin")
counts, wrong = {}, 0


def run(*words, uid=None):
    ids = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
    return subprocess.run(words, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, **ids)


def make(path, owner, mode, text=None):
    """Makes a file or a folder, and sometimes gives an ACL."""
    if text is None:
        os.mkdir(path)
    else:
        with open(path, "w") as file:
            file.write(text)
    os.chown(path, owner, rng.choice([owner, 0, BOB]))
    os.chmod(path, mode)
    if rng.random() < 0.4:
        run("setfacl", "-m", f"u:{BOB}:{rng.choice(['r', 'rx', 'rw', 'rwx', 'x'])}", path)
        if rng.random() < 0.3:
            run("setfacl", "-m", f"m::{rng.choice(['---', 'r--', 'rwx', '--x'])}", path)


def explain(path, program, user=None):
    words = [permcheck, "explain", path, "--as-used-by", program, "--json"] + (["--user", user] if user else [])
    result = run(*words)
    if result.returncode not in (0, 1, 2):
        raise SystemExit(f"{words}: {result.returncode} {result.stdout} {result.stderr}")
    return result.returncode == 0, json.loads(result.stdout)["reports"][0]["resources"][0]


def judge(path, program, accepts, user=None):
    """Compares what permcheck says with what the program does; types the fix where it refuses."""
    global wrong
    said, report = explain(path, program, user)
    done = accepts()
    counts[program] = counts.get(program, 0) + 1
    if said != done:
        wrong += 1
        print(f"{program} {'accepts' if done else 'refuses'} {path}:", [r["message"] for r in report["reasons"]],
              run("ls", "-ld", path, os.path.dirname(path), os.path.dirname(os.path.dirname(path))).stdout)
    elif not done:
        typed = []
        undone(path, program, user)
        # What the program wants, and then what the kernel wants of another owner.
        for _ in range(2):
            for remedy in explain(path, program, user)[1]["remedies"]:
                subprocess.run(remedy["shell"], shell=True, check=True)
                typed.append(remedy["shell"])
        if not accepts():
            wrong += 1
            print(f"{program} refuses {path} after", typed)


def undone(path, program, user):
    """What a fix changes, its undo puts back."""
    global wrong
    remedies = [r for r in explain(path, program, user)[1]["remedies"] if r.get("undoCommand")]
    files = sorted({r["command"][-1] for r in remedies})
    state = lambda: [run("getfacl", "-pn", file).stdout for file in files]
    before = state()
    for remedy in remedies:
        subprocess.run(remedy["shell"], shell=True, check=True)
    for remedy in reversed(remedies):
        subprocess.run(remedy["undoCommand"], check=True)
    counts["undone"] = counts.get("undone", 0) + len(remedies)
    if state() != before:
        wrong += 1
        print(program, path, "undo:", [r["undoCommand"] for r in remedies], before, state())


def request(path, need, program, accepts):
    """A request that breaks the program: refused as long as that is not accepted, and then it does."""
    global wrong
    if not accepts():
        return
    words = [permcheck, "request", path, "--need", need, "--user", "bob", "--yes"]
    first = run(*words)
    warned = f"--despite {program} makes the change anyway" in first.stderr
    if warned and (first.returncode != 1 or not accepts()):
        wrong += 1
        print("changed all the same:", first.stderr)
    second = run(*words, "--despite", program)
    counts["requests"] = counts.get("requests", 0) + 1
    if second.returncode == 0 and accepts() == warned or first.returncode == 0 and not accepts():
        wrong += 1
        print(run("getfacl", "-p", path, path + "/.ssh").stdout, f"{path} --need {need}: warned {warned}, {program} {'accepts' if accepts() else 'refuses'} it", first.stderr)


def login():
    command = f"{SSHD} -i -f {base}/sshd_config"
    return run("ssh", "-F", "none", "-o", f"ProxyCommand={command}", "-o", "StrictHostKeyChecking=no", "-o",
               "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes", "-i", f"{base}/login", "ada@x", "true").returncode == 0


MODES = [0o700, 0o755, 0o750, 0o775, 0o770, 0o757, 0o711]
FILE_MODES = [0o600, 0o644, 0o640, 0o664, 0o660, 0o604, 0o400, 0o440, 0o602]


def scene(number):
    home = f"{base}/ada"
    shutil.rmtree(home, ignore_errors=True)
    owner = lambda: rng.choice([ADA, ADA, ADA, ADA, 0, BOB])
    make(home, owner(), rng.choice(MODES))
    make(home + "/.ssh", owner(), rng.choice(MODES))
    with open(f"{base}/login.pub") as file:
        make(home + "/.ssh/authorized_keys", owner(), rng.choice(FILE_MODES), file.read())
    with open(f"{base}/login") as file:
        key = file.read()
    for path in (f"{base}/key", home + "/.ssh/id_ed25519"):
        if os.path.exists(path):
            os.remove(path)
        make(path, rng.choice([0, ADA]), rng.choice(FILE_MODES), key)

    def loads(path, uid):
        return lambda: run("ssh-keygen", "-y", "-f", path, uid=uid).returncode == 0

    key = f"{base}/key"
    judge(key, "ssh", loads(key, os.stat(key).st_uid))
    request(key, rng.choice(["r", "rw"]), "ssh", loads(key, os.stat(key).st_uid))
    # Root cannot be refused by a mode of another's folder.
    judge(home + "/.ssh/id_ed25519", "ssh", loads(home + "/.ssh/id_ed25519", 0), "root")
    if SSHD:
        judge(home + "/.ssh/authorized_keys", "sshd", login, "ada")
        place = rng.choice([home, home + "/.ssh", home + "/.ssh/authorized_keys"])
        request(place, rng.choice(["r", "rw", "rwx", "rx"]) if place != home + "/.ssh/authorized_keys" else "rw", "sshd", login)
    log = f"{base}/log"
    shutil.rmtree(log, ignore_errors=True)
    make(log, rng.choice([0, ADA]), rng.choice(MODES))
    make(log + "/a.log", 0, 0o644, "x")
    if os.path.exists(f"{base}/rotate"):
        os.remove(f"{base}/rotate")
    with open(f"{base}/rotate", "w") as file:
        file.write(f"{log}/a.log {{ size 1\n }}\n")
    os.chmod(f"{base}/rotate", 0o644)
    if LOGROTATE:
        judge(log + "/a.log", "logrotate",
              lambda: "insecure permissions" not in run(LOGROTATE, "-d", "-s", "/dev/null", f"{base}/rotate").stderr)
        os.chown(f"{base}/rotate", rng.choice([0, 0, ADA]), rng.choice([0, BOB]))
        os.chmod(f"{base}/rotate", rng.choice(FILE_MODES))
        os.makedirs("/etc/logrotate.d", exist_ok=True)
        shutil.copy2(f"{base}/rotate", "/etc/logrotate.d/programs")
        status = os.stat(f"{base}/rotate")
        os.chown("/etc/logrotate.d/programs", status.st_uid, status.st_gid)
        judge("/etc/logrotate.d/programs", "logrotate",
              lambda: "Ignoring" not in run(LOGROTATE, "-d", "-s", "/dev/null", "/etc/logrotate.d/programs").stderr)
    if number % 4 == 0 and shutil.which("git"):
        repository = f"{base}/repository"
        shutil.rmtree(repository, ignore_errors=True)
        run("git", "init", "-q", repository)
        for path in (repository, repository + "/.git"):
            os.chown(path, rng.choice([0, ADA]), 0)
        os.chown(home, ADA, ADA)
        os.chmod(home, 0o755)
        status = ("env", "HOME=" + home, "git", "-C", repository, "status")
        judge(repository, "git", lambda: "dubious" not in run(*status, uid=ADA).stderr, "ada")
    netrc = home + "/.netrc"
    os.chmod(home, 0o755)
    make(netrc, owner(), rng.choice(FILE_MODES), "machine h login l password p\n")
    read = f"import netrc, os; os.environ['HOME'] = {home!r}; netrc.netrc()"
    judge(netrc, "netrc", lambda: run("/usr/bin/python3", "-c", read, uid=ADA).returncode == 0, "ada")


for number in range(scenes):
    scene(number)
print("programs:", ", ".join(f"{name} {count}" for name, count in sorted(counts.items())), f"; {wrong} wrong, seed {seed}", sep="")
sys.exit(wrong > 0)
