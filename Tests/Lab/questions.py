"""Asks permcheck random questions about a folder, and judges the answers by the operations themselves.

    questions.py SEED COUNT MADE SEEN [no-acl]

MADE is where the files are made (as root, where the owner may be set), SEEN the same folder as the
layer shows it; ACLs are set unless no-acl is given. Each question is one path, one user and one need,
asked by the user (with --probe open and --probe write) and by root with --user. The last line counts:
a wrong answer is one that the operation, tried as that user, contradicts.

From the environment: INSIDE is a command that runs another one in the place that is asked about; there
users are numbers, and with NO_USERS=1 its own user alone asks. PACK is run in a shell when the files are
made, before anything is asked. SPOIL is run with the path of every third file or folder.
"""
import json
import os
import random
import shlex
import subprocess
import sys

USERS = {"root": 0, "tester": 1000, "member": 1001, "other": 1002}
NEEDS = ["r", "r", "w", "rw", "x", "rx", "rwx"]
IDS = [0, 1000, 1001, 1002]
MARK = "---- answer ----"
inside = shlex.split(os.environ.get("INSIDE", ""))
own_alone = os.environ.get("NO_USERS") == "1"


def make_tree(chance, made, with_acls):
    """Random folders and files, two levels deep: (path below MADE, whether it is a folder)."""
    paths = []
    for i in range(8):
        folder = f"d{i}"
        os.makedirs(f"{made}/{folder}")
        paths.append((folder, True))
        for j in range(2):
            file = f"{folder}/f{j}"
            with open(f"{made}/{file}", "w") as f:
                f.write("x")
            paths.append((file, False))
    for path, is_folder in reversed(paths):
        mode = chance.choice([0o700, 0o750, 0o755, 0o711, 0o770, 0o777, 0o070, 0o007, 0o000, 0o644, 0o440])
        owners = chance.choice(IDS), chance.choice(IDS + [29, 44])
        try:
            os.chown(f"{made}/{path}", *owners)
            os.chmod(f"{made}/{path}", mode)
        except PermissionError:
            pass  # vfat and exFAT have the owner and the mode of their mount
        if with_acls and chance.random() < 0.5:
            entry = f"{chance.choice('ug')}:{chance.choice(IDS[1:])}:{chance.choice(['r', 'rw', 'rwx', 'x', '-'])}"
            more = chance.choice([[], ["-m", f"m::{chance.choice(['r', 'rwx', '-'])}"]])
            subprocess.run(["setfacl", "-n", "-m", entry, *more, f"{made}/{path}"], stderr=subprocess.DEVNULL)
        if "SPOIL" in os.environ and chance.random() < 0.3:
            subprocess.run([*shlex.split(os.environ["SPOIL"]), f"{made}/{path}"], check=True)
    return paths


def groups_of(user):
    return os.getgrouplist(user, USERS[user])


def run(commands):
    """What each command prints; all of them run in one go where they are asked."""
    lines = []
    for command in commands:
        lines += [shlex.join(command) + " 2>/dev/null", f"echo; echo '{MARK}'"]
    done = subprocess.run([*inside, "sh", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=900)
    answers = done.stdout.split(f"\n{MARK}\n")[:-1]
    if len(answers) != len(commands):
        sys.exit(f"{inside}: {len(answers)} of {len(commands)} answers, exit {done.returncode}: {done.stderr[:500]}")
    return answers


def plan(chance, paths, seen, count):
    """Batches of (user, need, {path: whether it is a folder})."""
    batches, asked = [], 0
    while asked < count:
        user, need = chance.choice(["self"] if own_alone else list(USERS)), chance.choice(NEEDS)
        full = {f"{seen}/{path}": is_folder for path, is_folder in chance.sample(paths, 16)}
        # Creating needs both w and x; whether a file may be executed is not tried.
        if "x" in need:
            full = {p: d for p, d in full.items() if d}
        elif "w" in need:
            full = {p: d for p, d in full.items() if not d}
        if full:
            batches.append((user, need, full))
            asked += len(full)
    return batches


def commands_of(user, need, full):
    """The try itself, and each way to ask."""
    drop, subject = [], None
    if not own_alone:
        groups = ",".join(map(str, groups_of(user)))
        uid = str(USERS[user])
        drop = [] if user == "root" else ["attempt", "as", uid, uid, groups]
        subject = ["--user", user] if not inside else ["--uid", uid, "--gid", uid, "--groups", groups]
    ask = ["permcheck", "explain", "--need", need, "--json"]
    ways = {
        "try": [*drop, "attempt", need, *(p + "/" if d else p for p, d in full.items())],
        "self": [*drop, *ask, *full],
        "write": [*drop, *ask, "--probe", "write", *full],
    }
    if subject and os.environ.get("NO_OTHERS") != "1":
        ways["user"] = [*ask, *subject, *full]
    return ways


def judged(way, user, need, path, report, truth):
    """Whether an answer is wrong; tells why."""
    status = report["status"] if report else "absent"
    if (status == "authorized") == (truth == 0):
        return False
    reasons = [r["code"] + ": " + r["message"] for x in (report or {}).get("resources", []) for r in x.get("reasons", [])]
    name = "granted" if truth == 0 else os.strerror(truth)
    print(f"WRONG {way}: {user} {need} {path}: {status}, really {name}; {reasons}")
    return True


def main():
    seed, count, made, seen = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    chance = random.Random(seed)
    paths = make_tree(chance, made, "no-acl" not in sys.argv)
    if "PACK" in os.environ:
        subprocess.run(os.environ["PACK"], shell=True, check=True)
    batches = plan(chance, paths, seen, count)
    ways = [commands_of(*batch) for batch in batches]
    answers = iter(run([command for each in ways for command in each.values()]))
    asked = wrong = granted = 0
    open_answers = {"self": 0, "write": 0, "user": 0}
    for (user, need, full), each in zip(batches, ways):
        tried = next(answers).split()
        if len(tried) != len(full):
            sys.exit(f"{each['try']}: {tried}")
        truth = dict(zip(full, map(int, tried)))
        for way in list(each)[1:]:
            text = next(answers)
            try:
                reports = {r["resources"][0]["path"]: r for r in json.loads(text)["reports"]}
            except (ValueError, KeyError):
                sys.exit(f"{each[way]}: {text[:500]}")
            for path in full:
                report = reports.get(path)
                if report and report["status"] == "notDetermined":
                    open_answers[way] += 1
                elif judged(way, user, need, path, report, truth[path]):
                    wrong += 1
        asked += len(full)
        granted += list(truth.values()).count(0)
    told = ", ".join(f"{n} open ({way})" for way, n in open_answers.items())
    print(f"{asked} questions, {granted} really granted, {wrong} wrong, {told}, seed {seed}")
    sys.exit(wrong > 0)


main()
