#!/usr/bin/env python3
"""Holds explain --future against files that are really made: future.py FOLDER PERMCHECK SEED COUNT FIXES.

Makes random folders on tmpfs, overlay, ext4, xfs and btrfs (and on vfat and exFAT where the kernel has them), asks what
the next file and folder of a random creator will allow a random user, makes both as that creator, and tries
them as that user. Carries out up to FIXES of the fixes that are printed, makes the files again, and looks
whether anybody else gained or lost. Wants root, in a mount namespace of its own.
"""
import json, os, random, shutil, stat, subprocess, sys

import database

base, permcheck, seed, count, wanted_fixes = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
chance = random.Random(seed)
USERS = {f"futur{i}": 61000 + i for i in range(1, 7)}
GROUPS = [62000 + i for i in range(1, 7)]
MEMBERS = {gid: [n for n in USERS if chance.random() < 0.35] for gid in GROUPS}


def sh(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def data_base():
    passwd, group = "", ""
    for i, (name, uid) in enumerate(USERS.items()):
        passwd += f"{name}:x:{uid}:{GROUPS[i]}::/:/bin/sh\n"
    for gid, members in MEMBERS.items():
        group += f"fgroup{gid}:x:{gid}:{','.join(members)}\n"
    database.add(passwd, group)


def ids(name):
    if name == "root":
        return 0, 0, [0]
    primary = GROUPS[list(USERS).index(name)]
    return USERS[name], primary, sorted({primary} | {g for g in GROUPS if name in MEMBERS[g]})


def places():
    """The folders to work in, by the name of the file system; what is left out is told."""
    found = {}
    for name in ["tmpfs", "overlay", "ext4", "ext4-grpid", "xfs", "btrfs", "vfat", "exfat"]:
        place = f"{base}/{name}"
        os.mkdir(place)
        try:
            if name == "tmpfs":
                sh("mount", "-t", "tmpfs", "none", place)
            elif name == "overlay":
                for part in ["lower", "upper", "work"]:
                    os.mkdir(f"{base}/tmpfs/{part}")
                layers = ",".join(f"{k}dir={base}/tmpfs/{k}" for k in ["lower", "upper", "work"])
                sh("mount", "-t", "overlay", "none", place, "-o", layers)
            else:
                kind, image = name.split("-")[0], f"{base}/{name}.image"
                with open(image, "w") as file:
                    file.truncate((320 if kind in ("xfs", "btrfs") else 64) << 20)
                options = {"ext4": ["-q"], "xfs": ["-q"], "btrfs": ["-q"], "vfat": [], "exfat": []}[kind]
                sh(f"mkfs.{kind}", *options, image)
                more = {"ext4-grpid": ",grpid", "vfat": ",uid=61001,gid=62002,fmask=0137,dmask=0027",
                        "exfat": ",gid=62003,fmask=0113,dmask=0002"}
                sh("mount", "-o", "loop" + more.get(name, ""), image, place)
            os.mkdir(f"{place}/w")
            os.chmod(f"{place}/w", 0o755)
            found[name] = f"{place}/w"
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"without {name}: {getattr(error, 'stderr', error)}".strip(), file=sys.stderr)
    return found


def rwx():
    return chance.choice(["rwx", "r-x", "rw-", "r--", "-wx", "--x", "---", "rwx", "r-x"])


def acl(default):
    """A random ACL: with named entries and a mask, or, as a default ACL, perhaps without."""
    entries = [f"u::{'rwx' if chance.random() < 0.8 else rwx()}", f"g::{rwx()}", f"o::{rwx()}"]
    users = chance.sample(list(USERS.values()), chance.choice([0, 1, 1, 2]))
    groups = chance.sample(GROUPS, chance.choice([0, 0, 1, 2]))
    entries += [f"u:{uid}:{rwx()}" for uid in users] + [f"g:{gid}:{rwx()}" for gid in groups]
    if users or groups or chance.random() < 0.2:
        entries.append(f"m::{rwx()}")
    return ",".join(("d:" if default else "") + entry for entry in entries)


def make(folder, fixed):
    os.mkdir(folder)
    if fixed:
        return
    owner = chance.choice([0, *USERS.values()])
    os.chown(folder, owner, chance.choice(GROUPS))
    mode = chance.choice([0o777, 0o777, 0o775, 0o770, 0o755, 0o750, 0o700, 0o1777, chance.randrange(0o1000)])
    os.chmod(folder, mode | (0o2000 if chance.random() < 0.4 else 0))
    both = [acl(False)] if chance.random() < 0.25 else []
    if chance.random() < 0.5:
        both.append(acl(True))
    for one in both:
        sh("setfacl", "-n", "-m", one, folder)


def as_user(name, work):
    """What WORK returns in a child that has the ids of a user."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            uid, gid, groups = ids(name)
            os.setgroups(groups)
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            with os.fdopen(write, "w") as out:
                json.dump(work(), out)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text)


def made(folders, umask):
    """Makes a file and a folder in each: the errno of the first that fails, or 0."""
    def work():
        os.umask(umask)
        results = []
        for folder in folders:
            try:
                os.close(os.open(f"{folder}/file", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
                os.mkdir(f"{folder}/folder", 0o777)
                results.append(0)
            except OSError as error:
                results.append(error.errno)
        return results
    return work


def allowed(path, need, is_folder):
    """open(2), then access(2) for the rest."""
    try:
        opened = "r" if is_folder else "rw"
        asked = [p for p in need if p in opened]
        if asked:
            flags = os.O_RDONLY | os.O_DIRECTORY if is_folder else {
                "r": os.O_RDONLY, "w": os.O_WRONLY, "rw": os.O_RDWR}["".join(asked)]
            os.close(os.open(path, flags))
        rest = sum({"r": 4, "w": 2, "x": 1}[p] for p in need if p not in opened)
        return not rest or os.access(path, rest)
    except OSError:
        return False


def tried(folders, need):
    """Whether the needed access is there: of the file (None if x alone is asked), of the folder."""
    of_file = "".join(p for p in need if p in "rw")
    of_folder = "".join(p for p in "rwx" if p in need + "x")
    return lambda: [
        [allowed(f"{folder}/file", of_file, False) if of_file else None,
         allowed(f"{folder}/folder", of_folder, True)] for folder in folders]


def rights(folder):
    """Everything that each user may do with the new file and folder."""
    def work():
        return [[name for name in ["r", "w", "x", "rw", "rx", "wx", "rwx"] if allowed(f"{folder}/{kind}", name, kind == "folder")]
                for kind in ["file", "folder"]]
    return {name: as_user(name, work) for name in USERS}


def remove(folder):
    shutil.rmtree(f"{folder}/folder", ignore_errors=True)
    if os.path.exists(f"{folder}/file"):
        os.unlink(f"{folder}/file")


def explained(folders, creator, asker, need, umask):
    words = [permcheck, "explain", "--future", "--creator", creator, "--user", asker, "--need", need, "--json"]
    if umask is not None:
        words += ["--umask", f"{umask:03o}"]
    done = subprocess.run(words + folders, capture_output=True, text=True)
    try:
        return [report["resources"] for report in json.loads(done.stdout)["reports"]]
    except ValueError:
        sys.exit(f"{words}: {done.returncode}: {done.stdout[:300]} {done.stderr[:500]}")


wrong = []


def complain(*words):
    wrong.append(" ".join(map(str, words)))


def of_kind(resources, kind):
    return next((r for r in resources if r.get("future", {}).get("kind") == kind), None)


def shown(folder):
    return sh("getfacl", "-cpn", folder).replace("\n", " ")


def judge(folder, resources, errno, truth, context):
    """Compares one answer with what really is."""
    global granted, refused, unknown
    line = f"{folder} {context} {shown(folder)}"
    if errno:
        if any(r["status"] != "unavailable" for r in resources):
            complain("nothing can be made", errno, [r["status"] for r in resources], line)
        return
    for kind, really in zip(["regular", "directory"], truth):
        resource = of_kind(resources, kind)
        if really is None:
            if resource:
                complain("a file was judged for x", line)
            continue
        if not resource:
            complain(f"no {kind}", [r["status"] for r in resources], line)
            continue
        status = resource["status"]
        if status == "notDetermined" and context[-1] is None:
            unknown += 1
        elif (status == "authorized") != really or status not in ("authorized", "denied"):
            complain(kind, status, "really", really, line)
        granted, refused = granted + really, refused + (not really)
        if context[-1] is not None:
            made_now = os.lstat(f"{folder}/{'file' if kind == 'regular' else 'folder'}")
            future = resource["future"]
            seen = f"{stat.S_IMODE(made_now.st_mode):04o}", made_now.st_uid, made_now.st_gid
            if seen != (future["mode"], future["uid"], future["gid"]):
                complain(kind, "made", seen, "foretold", future, line)


def fix(folder, resources, creator, asker, need, umask):
    """Carries out the fix of a folder, and looks who gained."""
    global fixed
    remedies = next(r["remedies"] for r in resources if r["status"] == "denied")
    if any(r["kind"] not in ("acl", "mode", "login") for r in remedies):
        return
    before = rights(folder)
    line = f"{folder} {creator} {asker} {need} {umask:03o} {shown(folder)} {[r['command'] for r in remedies]}"
    remove(folder)
    for remedy in remedies:
        if remedy["kind"] == "login":
            umask = int(remedy["command"][1], 8)
        else:
            done = subprocess.run(remedy["command"], capture_output=True, text=True)
            if done.returncode:
                return complain("the fix fails", done.stderr, line)
    if as_user(creator, made([folder], umask)) != [0]:
        return complain("nothing can be made after the fix", line)
    if False in as_user(asker, tried([folder], need))[0]:
        return complain("the fix does not help", line, shown(folder))
    after = rights(folder)
    others = any(r["othersAffected"] for r in remedies)
    for name in USERS:
        if name == asker:
            continue
        for kind, old, new in zip(["file", "folder"], before[name], after[name]):
            if set(new) - set(old) and not others:
                complain(f"{name} gains", kind, old, new, line)
            if set(old) - set(new):
                complain(f"{name} loses", kind, old, new, line)
    if not others:
        if f"d:{asker}" and remedies[-1]["kind"] == "login":
            complain("a umask is for one alone", line)
    fixed += 1


granted = refused = unknown = fixed = unfixed = asked = number = 0
os.chmod(base, 0o755)
data_base()
found = places()
names = list(found)
while asked < count:
    system = names[number % len(names)]
    creator = chance.choice([*USERS, "root"])
    asker = chance.choice([*USERS, *USERS, "root"])
    need = chance.choice(["r", "r", "rx", "rw", "rwx", "w", "x", "wx"])
    umask = chance.choice([0o022, 0o027, 0o077, 0o002, 0o007, 0o000, chance.randrange(0o1000)])
    told = None if chance.random() < 0.1 else umask
    folders = []
    for i in range(25):
        number += 1
        parent = found[system]
        if chance.random() < 0.15 and "fat" not in system:
            parent = f"{parent}/p{number}"
            os.mkdir(parent)
            os.chmod(parent, chance.choice([0o700, 0o710, 0o711, 0o755]))
            os.chown(parent, chance.choice([0, *USERS.values()]), chance.choice(GROUPS))
        folders.append(f"{parent}/d{number}")
        make(folders[-1], "fat" in system)
    answers = explained(folders, creator, asker, need, told)
    results = as_user(creator, made(folders, umask))
    truths = as_user(asker, tried(folders, need))
    context = (creator, asker, need, told)
    for folder, resources, errno, truth in zip(folders, answers, results, truths):
        asked += 1
        judge(folder, resources, errno, truth, context)
        if told is not None and not errno and any(r["status"] == "denied" for r in resources):
            if any(r["remedies"] for r in resources):
                if fixed < wanted_fixes:
                    fix(folder, resources, creator, asker, need, umask)
            else:
                unfixed += 1
    for entry in os.listdir(found[system]):
        shutil.rmtree(f"{found[system]}/{entry}")
for line in wrong[:20]:
    print("WRONG", line)
print(f"future files: {asked} folders on {', '.join(names)}; {granted} granted, {refused} refused, "
      f"{unknown} by an unknown umask, {fixed} fixes, {unfixed} without; {len(wrong)} wrong, seed {seed}")
sys.exit(bool(wrong))
