"""Holds `permcheck verify` to `permcheck check` and to the kernel, on random expectations.

    expectations.py PERMCHECK FOLDER COUNT SEED

Makes folders and files with random owners, modes and ACLs below FOLDER. For each expectation the
kernel is asked as the user: open(2), and access(2) for x. Prints the counts, and each difference.
"""

import json
import os
import random
import subprocess
import sys

permcheck, root, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
random.seed(seed)
NEEDS = ["r", "w", "x", "rw", "rx", "wx", "rwx"]
WORDS = [["granted"], ["refused"], ["authorized"], ["limited"], ["denied"], ["restricted"],
         ["unavailable"], ["granted", "refused"], ["limited", "denied"]]
REACHED = {"granted": {"authorized", "limited"}, "refused": {"denied", "restricted"}}

subjects = [(3000 + i, 4000 + i % 4, sorted(random.sample(range(4000, 4008), i % 4)))
            for i in range(12)]


def made():
    """Makes the folders and files; returns both."""
    folders, files = [], []
    for i in range(12):
        for j in range(5):
            folder = f"{root}/{i}/{j}"
            os.makedirs(folder)
            folders.append(folder)
            for k in range(2):
                files.append(f"{folder}/file{k}")
                open(files[-1], "w").close()
    for place in [f"{root}/{i}" for i in range(12)] + folders + files:
        os.chown(place, 3000 + random.randrange(14), 4000 + random.randrange(8))
        os.chmod(place, random.choice([0o755, 0o755, 0o777, 0o777, 0o711, 0o750, 0o555, 0o070, 0o707])
                 if os.path.isdir(place) else random.choice([0o777, 0o644, 0o640, 0o607, 0o070, 0]))
        if random.random() < 0.3:
            entry = (f"{random.choice('ug')}:{random.choice([3003, 3007, 4001, 4005])}:"
                     f"{random.choice(['rwx', 'r--', '---', '-wx', 'r-x'])}")
            subprocess.run(["setfacl", "-m", entry, place], check=True)
    return folders, files


def allowed(path, need, is_folder):
    """Asks the kernel: one open for what open(2) takes, access(2) for the rest."""
    def passes(call):
        try:
            call()
            return True
        except PermissionError:
            return False
        except FileNotFoundError:
            return None
    rest = need.replace("r", "").replace("w", "") if not is_folder else need.replace("r", "")
    if is_folder and "w" in rest and "x" not in rest:
        rest += "x"  # To make and remove names.
    answers = []
    if is_folder and "r" in need:
        answers.append(passes(lambda: os.close(os.open(path, os.O_RDONLY | os.O_DIRECTORY))))
    if not is_folder and need.strip("x"):
        flags = {"r": os.O_RDONLY, "w": os.O_WRONLY, "rw": os.O_RDWR}[need.replace("x", "")]
        answers.append(passes(lambda: os.close(os.open(path, flags))))
    if rest:
        mode = sum({"w": os.W_OK, "x": os.X_OK}[c] for c in rest)
        def ask():
            if not os.access(path, mode, effective_ids=True):
                os.stat(path)
                raise PermissionError
        answers.append(passes(ask))
    return None if None in answers else all(answers)


def asked_as(subject, questions):
    """Answers questions in a process with the ids of a subject."""
    read, write = os.pipe()
    if not os.fork():
        os.setgroups(subject[2])
        os.setresgid(*[subject[1]] * 3)
        os.setresuid(*[subject[0]] * 3)
        with os.fdopen(write, "w") as out:
            json.dump([allowed(*question) for question in questions], out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answers:
        result = json.load(answers)
    os.wait()
    return result


folders, files = made()
expectations = []
while len(expectations) < count:
    is_folder = random.random() < 0.5
    path = random.choice(folders if is_folder else files)
    by_accessor = is_folder and random.random() < 0.6
    need = random.choice(NEEDS) if not by_accessor or random.random() < 0.8 else None
    expectations.append({
        "path": path, "folder": is_folder, "accessor": by_accessor, "need": need,
        "subject": random.choice(subjects), "is": random.choice(WORDS),
        "skip": random.random() < 0.1})
for one in expectations:
    if one.pop("skip"):
        one["path"] += "-misspelled"


def target(one):
    return f"photos={one['path']}" if one["accessor"] else one["path"]


# The kernel; without a need, `photos` is authorized with rwx and limited with rx.
questions = {}
for number, one in enumerate(expectations):
    for need in [one["need"]] if one["need"] else ["rwx", "rx"]:
        questions.setdefault(one["subject"][0], []).append((number, need))
kernel = {}
for subject in subjects:
    mine = questions.get(subject[0], [])
    answers = asked_as(subject, [
        (expectations[n]["path"], need, expectations[n]["folder"]) for n, need in mine])
    for (number, need), answer in zip(mine, answers):
        kernel.setdefault(number, []).append(answer)


def truth(number):
    """Returns the statuses that the kernel's answers mean."""
    answers = kernel[number]
    if answers[0]:
        return {"authorized"}
    if len(answers) > 1 and answers[1]:
        return {"limited"}
    # What is not there may be hidden by a folder that refuses search.
    if None in answers:
        return {"unavailable"}
    return {"denied", "restricted"}


def verified(numbers, subject=None):
    """Verifies expectations for their subjects, or as one of them itself; returns the results."""
    lines = []
    for number in numbers:
        one = expectations[number]
        uid, gid, groups = one["subject"]
        lines += ["[[expect]]", f'name = "{number}"', f"is = {json.dumps(one['is'])}",
                  f'accessor = "{target(one)}"' if one["accessor"] else f'path = "{one["path"]}"']
        if one["need"]:
            lines.append(f'need = "{one["need"]}"')
        if not subject:
            lines += [f"uid = {uid}", f"gid = {gid}", f"groups = {groups}"]
    command = [permcheck, "verify", "-", "--json", "--skip-unavailable"]
    if subject:
        uid, gid, groups = subject
        chosen = ["--groups", ",".join(map(str, groups))] if groups else ["--clear-groups"]
        command = ["setpriv", "--reuid", str(uid), "--regid", str(gid), *chosen, "--", *command]
    run = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
    results = json.loads(run.stdout)["results"]
    assert [int(result["name"]) for result in results] == list(numbers), run.stderr
    return results


wrong, statuses = [], {}


def compare(number, result, who):
    one, status = expectations[number], result["report"]["status"]
    wanted = set().union(*(REACHED.get(word, {word}) for word in one["is"]))
    if status not in truth(number):
        wrong.append(f"{number}: {who} says {status}, the kernel {kernel[number]}: {one}")
    if (result["outcome"] == "holds") != (status in wanted):
        wrong.append(f"{number}: {who} says {result['outcome']} with {status}: {one}")


results = verified(range(count))
for number, result in enumerate(results):
    compare(number, result, "verify")
    status = result["report"]["status"]
    statuses[status] = statuses.get(status, 0) + 1
for subject in subjects:
    numbers = [n for n, one in enumerate(expectations) if one["subject"] == subject]
    if numbers:
        for number, result in zip(numbers, verified(numbers, subject)):
            compare(number, result, f"verify as uid {subject[0]}")
for number, one in enumerate(expectations):
    uid, gid, groups = one["subject"]
    words = [permcheck, "check", target(one), "--json", "--uid", str(uid), "--gid", str(gid)]
    words += ["--groups", ",".join(map(str, groups))] if groups else []
    words += ["--need", one["need"]] if one["need"] else []
    check = json.loads(subprocess.run(words, capture_output=True, text=True).stdout)
    status = results[number]["report"]["status"]
    if check["reports"][0]["status"] != status:
        wrong.append(f"{number}: check {check['reports'][0]['status']}, verify {status}: {one}")
shown = ", ".join(f"{statuses[s]} {s}" for s in sorted(statuses))
print(f"expectations: {count} ({shown}), {len(wrong)} differ, seed {seed}")
print("\n".join(wrong[:20]))
sys.exit(1 if wrong else 0)
