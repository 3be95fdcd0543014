#!/usr/bin/env python3
"""Kills permcheck trace --by ptrace, or the process that traces: killed.py FOLDER PERMCHECK [ROUNDS].

The program must run on as if nothing had happened, or end with --kill-together. Prints what differs, and last how much
was checked. Wants process and mount namespaces of its own.
"""
import os, re, signal, subprocess, sys, time

folder, permcheck = sys.argv[1], sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
LIMIT = 60
count = wrong = 0

# A child of a stopped job stays stopped, and all others go on, each call of them as before.
PROGRAM = """
sleep 1234 & kill -STOP $!; echo $$ $! >READY.new; mv READY.new READY
i=0
while [ $i -lt 300 ]; do
  i=$((i+1)); cat /etc/hostname >/dev/null || echo failed; cat /etc/shadow 2>/dev/null; ls -d /usr /tmp >/dev/null || echo failed
done
sed -n 's/^State:.\\(.\\).*/stopped \\1/p' /proc/$!/status; kill -9 $!; echo done; exit 7
"""


def hold(what, seen, wanted):
    global count, wrong
    count += 1
    if seen != wanted:
        wrong += 1
        print(f"{what}: {seen!r} instead of {wanted!r}", flush=True)


def tracer_of(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"TracerPid:\t(\d+)", file.read())[1])


def ends(pid):
    end = time.time() + LIMIT
    while time.time() < end:
        try:
            if open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def play(what, options, victims):
    ready, out, refusals = f"{folder}/ready", f"{folder}/out", f"{folder}/refusals"
    for path in ready, out, refusals:
        if os.path.exists(path):
            os.unlink(path)
    with open(out, "w") as file:
        front = subprocess.Popen([permcheck, "trace", "--by", "ptrace", "--format", "plain", "-o", refusals, *options, "--", "setpriv", "--reuid=5", "--clear-groups", "--inh-caps=-all",
                                  "sh", "-c", PROGRAM.replace("READY", ready)], stdout=file, stderr=file)
    end = time.time() + LIMIT
    while not os.path.exists(ready) and time.time() < end:
        time.sleep(0.01)
    command, stopped = map(int, open(ready).read().split())
    for number, victim in enumerate(victims):
        time.sleep(0.05 + 0.03 * number)
        os.kill(front.pid if victim == "front" else tracer_of(command), signal.SIGKILL)
        if victim == "tracer" and "--kill-together" not in options:
            # Until another one traces.
            time.sleep(0.1)
            hold(f"{what}: somebody traces", tracer_of(command) > 0, True)
    hold(f"{what}: it ends", ends(command), True)
    status = front.wait(timeout=LIMIT)
    if "--kill-together" in options:
        hold(f"{what}: all end", ends(stopped), True)
        return
    # What is not permcheck's own; a stopped job has the state t, because it is traced.
    hold(f"{what}: output", [line for line in open(out).read().splitlines() if not line.startswith("permcheck: ")], ["stopped t", "done"])
    if "front" not in victims:
        hold(f"{what}: status", status, 7)
        seen = re.search(r"\t(\d+)\tEACCES\topenat\t/etc/shadow\t", open(refusals).read())
        # Those of the moment of the change are missed.
        hold(f"{what}: refusals", seen is not None and int(seen[1]) >= 200, True)


os.makedirs(folder, exist_ok=True)
os.chmod(folder, 0o777)
play("nobody", [], [])
for number in range(rounds):
    play("the tracer", [], ["tracer"])
    play("two tracers", [], ["tracer", "tracer"])
    play("the front", [], ["front"])
for victim in "tracer", "front":
    play(f"together, the {victim}", ["--kill-together"], [victim])
print(f"{count} checked; {wrong} wrong")
sys.exit(wrong > 0)
