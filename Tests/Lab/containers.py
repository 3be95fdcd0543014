"""Carries out what permcheck prints in containers, as whoever starts them.

    containers.py ROOT NODE GID ACCESSOR

ROOT is a root file system with permcheck and attempt in it; NODE is a device of the group GID, for ACCESSOR. Each row starts a
container, by podman or by runc (with the marker of Docker, of LXC, or in a pod), and asks in it. The first fix is
carried out to the letter: an option for the next start, or a command on the machine. Then the operation must work.
"""
import json
import os
import shutil
import subprocess
import sys

root, node, gid, accessor = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
FOLDER = "/srv/containers"
failed = count = 0


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


def check(row, name, holds, *seen):
    global failed, count
    count += 1
    print(f"{'ok     ' if holds else 'FAIL   '} containers: {row}: {name}", flush=True)
    for line in seen if not holds else ():
        print(f"          {str(line)[:1500]}")
    failed += not holds


class Podman:
    """By root."""

    def __call__(self, options, *command):
        return run("podman", "run", "--rm", "--network=none", *options, "--rootfs", f"{root}:O", *command, cwd="/tmp")


class Runc:
    """The same options, for runc; with `ids` in a user namespace that maps 0 to that number."""

    def __init__(self, marker=None, ids=None, environment=()):
        self.marker, self.ids, self.environment = marker, ids, environment

    def __call__(self, options, *command):
        bundle = f"{FOLDER}/bundle"
        shutil.rmtree(bundle, ignore_errors=True)
        os.makedirs(bundle)
        run("runc", "spec", cwd=bundle)
        with open(f"{bundle}/config.json") as file:
            config = json.load(file)
        process, linux = config["process"], config["linux"]
        process.update(terminal=False, args=list(command), user={"uid": 0, "gid": 0})
        process.pop("rlimits", None)
        process["env"] += self.environment
        process["noNewPrivileges"] = False
        config["root"] = {"path": root, "readonly": True}
        if self.marker:
            file = f"{bundle}/marker"
            with open(file, "w") as text:
                text.write("lxc\n")
            os.chmod(file, 0o644)
            with open(root + self.marker, "w"):
                pass
            config["mounts"].append({"destination": self.marker, "source": file, "type": "bind", "options": ["bind", "ro"]})
        for option in options:
            name, _, value = option.partition("=")
            if name == "--user":
                uid, _, group = value.partition(":")
                process["user"].update(uid=int(uid), gid=int(group or uid if group else 0))
            elif name == "--group-add":
                process["user"].setdefault("additionalGids", []).append(int(value))
            elif name == "--volume":
                source, point, *mode = value.split(":")
                config["mounts"].append({"destination": point, "source": source, "type": "bind", "options": ["rbind", *(mode or ["rw"])]})
            elif name == "--device":
                found = os.stat(value)
                numbers = {"major": os.major(found.st_rdev), "minor": os.minor(found.st_rdev)}
                linux.setdefault("devices", []).append({"path": value, "type": "c", **numbers, "fileMode": found.st_mode & 0o777,
                                                        "uid": found.st_uid, "gid": found.st_gid})
                linux["resources"]["devices"].append({"allow": True, "type": "c", **numbers, "access": "rwm"})
            else:
                raise ValueError(option)
        if self.ids:
            linux["namespaces"].append({"type": "user"})
            linux["uidMappings"] = linux["gidMappings"] = [{"containerID": 0, "hostID": self.ids, "size": 65536}]
            # Its node is given, and it may use it.
            linux["resources"]["devices"] = [{"allow": True, "access": "rwm"}]
        with open(f"{bundle}/config.json", "w") as file:
            json.dump(config, file)
        try:
            return run("runc", "run", "-b", bundle, f"lab{os.getpid()}")
        finally:
            # What it made to mount the marker on would mark all that follow.
            if self.marker and os.path.exists(root + self.marker):
                os.remove(root + self.marker)


def asked(done):
    try:
        return json.loads(done.stdout)["reports"][0]
    except (ValueError, LookupError):
        return {"status": f"{done.stdout} {done.stderr}", "resources": []}


def remedies(report):
    return [m for resource in report["resources"] for m in resource.get("remedies", [])]


def codes(report):
    return [r["code"] for resource in report["resources"] for r in resource["reasons"]]


def try_row(name, engine, options, question, need, path, code, others=None):
    """The operation is refused; then the first fix that is no suggestion is carried out, and it works.

    `others` are options for somebody who must stay refused.
    """
    try:
        before = engine(options, "attempt", need, path)
        check(name, "it is refused", before.stdout.strip() not in ("", "0"), before.stdout, before.stderr)
        done = engine(options, "permcheck", *question, "--json")
        report = asked(done)
        check(name, f"permcheck says so, and names {code}", report["status"] != "authorized" and code in codes(report), report)
        plain = engine(options, "permcheck", *question).stdout
        found = [m for m in remedies(report) if not m.get("suggestion")]
        check(name, "there is a fix", bool(found), report)
        if not found:
            return report
        fix = found[0]
        check(name, "check prints it first", fix["shell"] in plain and plain.index(fix["shell"]) < plain.find("permcheck request") % (1 << 30), plain)
        inside = [m for m in found if m["kind"] in ("acl", "mode") and m["command"][-1].startswith("/dev")]
        check(name, "what is changed inside ends with it", all(m["persistence"] == "until-container-ends" for m in inside), inside)
        if fix.get("onHost"):
            made = run("sh", "-c", fix["shell"] if shutil.which("sudo") else fix["shell"].removeprefix("sudo "))
            check(name, "it runs as printed on the machine", made.returncode == 0, fix, made.stderr)
        else:
            program, verb, *more, image = fix["command"]
            check(name, "it is a start", (program, verb, image) in (("docker", "run", "IMAGE"), ("podman", "run", "IMAGE")), fix)
            points = {o.split(":")[1] for o in more if o.startswith("--volume")}
            options = [o for o in options if not (o.startswith("--volume") and o.split(":")[1] in points)]
            options = options + more
        after = engine(options, "attempt", need, path)
        check(name, "then it works", after.stdout.strip() == "0", fix, after.stdout, after.stderr)
        told = asked(engine(options, "permcheck", *question, "--json"))
        check(name, "and permcheck says so", told["status"] == "authorized", told)
        if others:
            still = engine(others, "attempt", need, path)
            check(name, "others stay refused", still.stdout.strip() not in ("", "0"), still.stdout)
        return report
    except Exception as error:
        check(name, f"ran to its end: {type(error).__name__}: {error}", False)
        return {"resources": []}


def folder(owner, mode):
    shutil.rmtree(f"{FOLDER}/photos", ignore_errors=True)
    os.makedirs(f"{FOLDER}/photos/2024")
    for path in (f"{FOLDER}/photos", f"{FOLDER}/photos/2024"):
        os.chown(path, owner, owner)
        os.chmod(path, mode)


def main():
    os.makedirs(f"{root}/run/host", exist_ok=True)
    os.makedirs(FOLDER, exist_ok=True)
    os.chmod(FOLDER, 0o755)
    camera = [accessor]
    device = [f"--device={node}"]
    photos = ["photos=/photos", "--need"]
    docker, podman = Runc("/.dockerenv"), Podman()
    groups = {}
    for name, line in {"foreign": f"ssl-cert:x:{gid}:", "nameless": "users:x:100:"}.items():
        groups[name] = f"{FOLDER}/group-{name}"
        with open(groups[name], "w") as file:
            file.write(f"root:x:0:\n{line}\n")
    for engine, name in ((docker, "runc"), (podman, "podman")):
        try_row(f"7, {name}: a user without the group", engine, device + ["--user=997:997"], camera, "rw", node, "not-in-group")
        for kind, file in groups.items():
            try_row(f"9, {name}: a {kind} group", engine, device + ["--user=997:997", f"--volume={file}:/etc/group:ro"],
                    camera, "rw", node, "foreign-gid")
        folder(2000, 0o750)
        try_row(f"11, {name}: a volume given read-only", engine, ["--user=2000:2000", f"--volume={FOLDER}/photos/2024:/photos:ro"],
                photos + ["rwx"], "w", "/photos/", "read-only-mount")
        try_row(f"12, {name}: a foreign user on a volume", engine, ["--user=2002:2002", f"--volume={FOLDER}/photos:/photos"],
                photos + ["rx"], "rx", "/photos/", "not-in-group", ["--user=2003:2003", f"--volume={FOLDER}/photos:/photos"])
    try_row("8, runc: a node that is only bound", docker, [f"--volume={node}:{node}", f"--user=997:{gid}"], camera, "rw", node, "device-cgroup")
    run("podman", "volume", "create", "labpics")
    podman(["--volume=labpics:/photos"], "attempt", "r", "/photos")
    where = run("podman", "volume", "inspect", "-f", "{{.Mountpoint}}", "labpics").stdout.strip()
    os.chown(where, 2000, 2000)
    try_row("11, podman: a volume by name, given read-only", podman, ["--user=2000:2000", "--volume=labpics:/photos:ro"],
            photos + ["rwx"], "w", "/photos/", "read-only-mount")
    run("podman", "volume", "rm", "labpics")
    folder(2000, 0o750)
    try_row("12, runc: a foreign user, with other numbers outside", Runc("/.dockerenv", ids=300000),
            ["--user=1000:1000", f"--volume={FOLDER}/photos:/photos"], photos + ["rx"], "rx", "/photos/", "not-in-group",
            ["--user=1001:1001", f"--volume={FOLDER}/photos:/photos"])

    # Others can only be told.
    pod = Runc("/.dockerenv", environment=["KUBERNETES_SERVICE_HOST=10.0.0.1"])
    report = asked(pod(device + ["--user=997:997"], "permcheck", *camera, "--json"))
    lines = [m.get("line", "") for m in remedies(report)]
    check("10, a device in a pod", "supplementalGroups is told, and nothing else",
          len(lines) == 1 and f"supplementalGroups: [{gid}]" in lines[0], report)
    folder(2000, 0o700)
    report = asked(pod(["--user=2002:2002", f"--volume={FOLDER}/photos:/photos"], "permcheck", *photos, "rx", "--json"))
    check("10, a folder in a pod", "fsGroup is told", any("fsGroup: 2002" in m.get("line", "") for m in remedies(report)), report)
    lxc = Runc("/run/host/container-manager", ids=200000)
    options = [f"--volume={node}:{node}", "--user=1000:1000"]
    report = asked(lxc(options, "permcheck", *camera, "--json"))
    lines = " ".join(m.get("line", "") for m in remedies(report))
    check("14, LXC, a group without a number", "dev0 and lxc.idmap are told", f"dev0: {node},gid={gid}" in lines and "lxc.idmap = g" in lines, report)
    acl = run("getfacl", "-cnp", node).stdout
    try_row("14, LXC, by the number on the machine", lxc, options, camera, "rw", node, "not-in-group",
            [f"--volume={node}:{node}", "--user=1001:1001"])
    subprocess.run(["setfacl", "--set-file=-", node], input=acl, text=True)
    shutil.rmtree(FOLDER)
    print(f"containers: {count} checks, {failed} failed")
    sys.exit(bool(failed))


main()
