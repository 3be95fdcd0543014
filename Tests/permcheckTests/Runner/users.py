#!/usr/bin/python3
"""Users and groups of random files, as glibc says and as permcheck says.

  users.py FOLDER PERMCHECK SEED COUNT

Wants a mount namespace of its own, where it mounts files over /etc/passwd, /etc/group and nsswitch.conf.
Prints what differs, and counts; ends with 1 if anything differs.
"""
import json
import os
import random
import subprocess
import sys

FOLDER, PERMCHECK, SEED, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
RANDOM = random.Random(SEED)
NAMES = ["ada", "bob", "eve", "root", "x", "7", "12", "a-b", "_s", "Z9", "nobody", "dev ops"]
FORMS = ["files"] * 4 + [
    "files systemd", "files [SUCCESS=merge] systemd", "compat", "files compat", "compat files", "db files",
    "files db", "files extrausers", "extrausers files", "sss files", "files sss", "files [NOTFOUND=return] sss",
    "files [SUCCESS=continue] sss", "systemd files", "files [!SUCCESS=continue] sss", "files # sss",
    "files [UNAVAIL=return] sss", "\tfiles", "", "sss", "files files",
]


def number():
    return RANDOM.choice([
        "0", "1", "5", "7", "12", "44", "1000", "65534", "4294967295", "4294967296", "-1", "+5", " 7", "\t44",
        "007", "0x10", "", "99999999999999999999999", "-18446744073709551615", "12a", "1 "])


def ordinary():
    return str(RANDOM.choice([0, 1, 5, 7, 12, 44, 1000]))


def line(fields):
    """A line that is odd half of the time."""
    if RANDOM.random() < 0.5: return ":".join(fields)
    odd = RANDOM.randrange(9)
    if odd == 0: fields[2] = number()
    elif odd == 1: fields[-1 if len(fields) == 4 else 3] = number()
    elif odd == 2: fields = fields[:RANDOM.randrange(len(fields) + 1)]
    elif odd == 3: fields.append(RANDOM.choice(["", "more", "a,b"]))
    elif odd == 4: fields[0] = RANDOM.choice(["+", "-", "+ada", "-bob", "#ada", " ", "", "+@group", "ada ", "\t"])
    elif odd == 5: fields[1] = RANDOM.choice(["", "*", "!", " "])
    text = ":".join(fields)
    if odd == 6: text = RANDOM.choice([" ", "\t", "#", "\r", "\v", " #", "+", "-", "\0"]) + text
    elif odd == 7 and text:
        place = RANDOM.randrange(len(text))
        text = text[:place] + RANDOM.choice(":#\0 \t\r,+-x") + text[place + RANDOM.randrange(2):]
    elif odd == 8: text = RANDOM.choice(["", " ", "#", ":", "::::::", "+", "-", "+:", "\0", "text", ",", "+::::::"])
    return text


def user():
    return line([RANDOM.choice(NAMES), "x", ordinary(), ordinary(), "", "/home/x", "/bin/sh"])


def group():
    members = [RANDOM.choice(NAMES + ["", " bob", "bob ", "ada\tb"]) for _ in range(RANDOM.randrange(5))]
    return line([RANDOM.choice(NAMES + ["video", "audio"]), "x", ordinary(), ",".join(members)])


def file(make):
    text = "\n".join(make() for _ in range(RANDOM.randrange(1, 14)))
    return text + RANDOM.choice(["\n", "\n", "\n", ""])


def write(name, text):
    with open("/etc/" + name, "w", encoding="latin-1", newline="") as out: out.write(text)


def glibc(key):
    """What a login would get, in a process that has asked nothing before."""
    program = """
import grp, json, os, pwd, sys
key = sys.argv[1]
def find():
    try: return pwd.getpwnam(key)
    except KeyError: pass
    # A number as Swift reads it.
    digits = key[1:] if key[:1] == "+" else key
    if digits.isascii() and digits.isdigit() and int(digits) < 1 << 32:
        try: return pwd.getpwuid(int(digits))
        except KeyError: pass
found = find()
if not found: print("null")
# getent(1) refuses to print it.
elif ":" in found.pw_shell + found.pw_dir + found.pw_gecos: print('"colon"')
else:
    def name(gid):
        try: group = grp.getgrgid(gid)
        except KeyError: return None
        return None if ":" in "".join(group.gr_mem) else group.gr_name
    groups = set(os.getgrouplist(found.pw_name, found.pw_gid if found.pw_gid < 1 << 31 else found.pw_gid - (1 << 32)))
    # No process can have the group -1, and getent(1) does not tell it.
    groups = sorted({gid & 0xffffffff for gid in groups} - {0xffffffff})
    print(json.dumps([found.pw_name, found.pw_uid & 0xffffffff, found.pw_gid & 0xffffffff, groups, name(44)]))
"""
    done = subprocess.run(["/usr/bin/python3", "-c", program, key], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else ["python", done.stderr[-200:]]


def permcheck(key):
    done = subprocess.run(
        [PERMCHECK, "explain", FOLDER + "/of44", "--user", key, "--json"],
        capture_output=True, text=True, timeout=60)
    if done.returncode == 64 and "there is no user" in done.stderr + done.stdout: return None
    try: subject = json.loads(done.stdout)["credentials"]
    except (KeyError, ValueError): return ["permcheck", done.returncode, (done.stdout + done.stderr)[-300:]]
    document = json.loads(done.stdout)
    own = subject["credentials"]
    groups = sorted((set(own["groups"]) | {own["group"]["real"]}) - {0xffffffff})
    return [subject["user"], own["user"]["real"], own["group"]["real"], groups, document["names"]["groups"].get("44")]


def main():
    os.makedirs(FOLDER + "/etc", exist_ok=True)
    with open(FOLDER + "/of44", "w"): pass
    os.chown(FOLDER + "/of44", 0, 44)
    os.chmod(FOLDER + "/of44", 0o644)
    for name in ("passwd", "group", "nsswitch.conf"):
        place = f"{FOLDER}/etc/{name}"
        with open(place, "w"): pass
        subprocess.run(["mount", "--bind", place, "/etc/" + name], check=True)
    asked = wrong = unknown = 0
    for _ in range(COUNT):
        files = {"passwd": file(user), "group": file(group)}
        form, other, lists = RANDOM.choice(FORMS), RANDOM.choice(FORMS), RANDOM.random()
        files["nsswitch.conf"] = f"passwd: {form}\ngroup: {other}\n"
        if lists < 0.1: files["nsswitch.conf"] += f"initgroups: {RANDOM.choice(FORMS)}\n"
        elif lists < 0.13: files["nsswitch.conf"] += "group: files sss\n"
        elif lists < 0.16: files["nsswitch.conf"] = ""
        for name, text in files.items(): write(name, text)
        for key in RANDOM.sample(NAMES, 3) + [ordinary()]:
            # A command line has no NUL.
            expected, found = glibc(key), permcheck(key)
            asked += 1
            unknown += expected is None
            # glibc ended the process: a line without sources.
            if expected == "colon" or expected and expected[0] == "python": continue
            # getent(1) takes a name of digits for an id.
            if expected and expected[0] == key and key.isdigit() and form != "files": continue
            if expected and found and expected[4] is None: found[4] = None
            if expected != found:
                wrong += 1
                print(json.dumps({"key": key, "files": files, "glibc": expected, "permcheck": found}))
    print(f"users: {COUNT} files, {asked} asked, {unknown} unknown; {wrong} wrong, seed {SEED}")
    sys.exit(1 if wrong else 0)


main()
