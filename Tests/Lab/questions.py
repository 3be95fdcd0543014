"""Asks permcheck random questions about a folder, and judges the answers by the operations themselves.

    questions.py SEED COUNT MADE SEEN [no-acl]

MADE is where the files are made (as root, where the owner may be set), SEEN the same folder as the
layer shows it; ACLs are set unless no-acl is given. Each question is one path, one user and one need,
asked by the user (with --probe open and --probe write) and by root with --user. The last line counts:
a wrong answer is one that the operation, tried as that user, contradicts.
"""
import json
import os
import random
import subprocess
import sys

USERS = {"root": 0, "tester": 1000, "member": 1001, "other": 1002}
NEEDS = ["r", "r", "w", "rw", "x", "rx", "rwx"]
IDS = [0, 1000, 1001, 1002]


def as_user(name, action):
    """The result of an action in a process of that user: 0 or the errno."""
    pid = os.fork()
    if pid == 0:
        try:
            if name != "root":
                os.initgroups(name, USERS[name])
                os.setresgid(*[USERS[name]] * 3)
                os.setresuid(*[USERS[name]] * 3)
            action()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno or 255)
        except BaseException:
            os._exit(254)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def operation(path, need, is_folder):
    def act():
        if not is_folder:
            if "r" in need or "w" in need:
                flags = os.O_RDWR if "r" in need and "w" in need else os.O_WRONLY if "w" in need else os.O_RDONLY
                os.close(os.open(path, flags))
            return
        if "r" in need:
            os.listdir(path)
        if "x" in need:
            try:
                os.lstat(f"{path}/.no-such-name")
            except FileNotFoundError:
                pass
        if "w" in need:
            name = f"{path}/.made-{os.getpid()}"
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.unlink(name)

    return act


def make_tree(chance, made, with_acls):
    """Random folders and files, two levels deep: (path below MADE, whether it is a folder)."""
    paths = []
    for i in range(8):
        folder = f"d{i}"
        os.mkdir(f"{made}/{folder}")
        paths.append((folder, True))
        for j in range(2):
            file = f"{folder}/f{j}"
            with open(f"{made}/{file}", "w") as f:
                f.write("x")
            paths.append((file, False))
    for path, is_folder in reversed(paths):
        os.chown(f"{made}/{path}", chance.choice(IDS), chance.choice(IDS + [29, 44]))
        mode = chance.choice([0o700, 0o750, 0o755, 0o711, 0o770, 0o777, 0o070, 0o007, 0o000, 0o644, 0o440])
        os.chmod(f"{made}/{path}", mode)
        if with_acls and chance.random() < 0.5:
            entry = f"{chance.choice('ug')}:{chance.choice(IDS[1:])}:{chance.choice(['r', 'rw', 'rwx', 'x', '-'])}"
            more = chance.choice([[], ["-m", f"m::{chance.choice(['r', 'rwx', '-'])}"]])
            subprocess.run(["setfacl", "-n", "-m", entry, *more, f"{made}/{path}"], stderr=subprocess.DEVNULL)
    return paths


def ask(command, paths):
    run = subprocess.run([*command, "--json", *paths], capture_output=True, text=True, timeout=300)
    try:
        reports = json.loads(run.stdout)["reports"]
    except (ValueError, KeyError):
        sys.exit(f"{command}: exit {run.returncode}: {run.stdout[:200]} {run.stderr[:300]}")
    return {r["resources"][0]["path"]: r for r in reports}


def main():
    seed, count, made, seen = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    chance = random.Random(seed)
    paths = make_tree(chance, made, "no-acl" not in sys.argv)
    asked = wrong = 0
    open_answers = {"self": 0, "write": 0, "user": 0}
    while asked < count:
        user, need = chance.choice(list(USERS)), chance.choice(NEEDS)
        chosen = chance.sample(paths, 8)
        full = {f"{seen}/{path}": is_folder for path, is_folder in chosen}
        # Creating needs both w and x; whether a file may be executed is not tried.
        if "x" in need:
            full = {p: d for p, d in full.items() if d}
        elif "w" in need:
            full = {p: d for p, d in full.items() if not d}
        if not full:
            continue
        drop = [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        ways = {
            "self": [*drop, "permcheck", "explain", "--need", need],
            "write": [*drop, "permcheck", "explain", "--need", need, "--probe", "write"],
            "user": ["permcheck", "explain", "--need", need, "--user", user],
        }
        answers = {way: ask(command, list(full)) for way, command in ways.items()}
        for path, is_folder in full.items():
            truth = as_user(user, operation(path, need, is_folder))
            asked += 1
            for way in ways:
                report = answers[way].get(path)
                status = report["status"] if report else "absent"
                if status == "notDetermined":
                    open_answers[way] += 1
                    continue
                if (status == "authorized") != (truth == 0):
                    wrong += 1
                    if wrong <= 10:
                        reasons = [r["code"] + ": " + r["message"] for x in report["resources"] for r in x.get("reasons", [])]
                        name = "granted" if truth == 0 else os.strerror(truth)
                        print(f"WRONG {way}: {user} {need} {path}: {status}, really {name}; {reasons}")
    told = ", ".join(f"{n} open ({way})" for way, n in open_answers.items())
    print(f"{asked} questions, {wrong} wrong, {told}, seed {seed}")
    sys.exit(wrong > 0)


main()
