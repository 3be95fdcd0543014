#!/usr/bin/env python3
"""Runs gate-question at a terminal: the first question is taken back, the second is answered.

    question.py PROGRAM FOLDER

The caller is the owner of FOLDER. Exit status: 0 each did what it must; else a line says what did not.
"""
import os, pty, select, sys, time

program, folder = sys.argv[1:]


def holds(condition, what):
    if not condition:
        raise SystemExit(f"gate question: not so: {what}")


def mode():
    return os.stat(folder).st_mode & 0o777


os.mkdir(folder)
os.chmod(folder, 0)
pid, terminal = pty.fork()
if pid == 0:
    os.execv(program, [program, folder])
shown = ""


def read_until(text):
    global shown
    end = time.monotonic() + 60
    while text not in shown:
        holds(time.monotonic() < end, f"{text!r} is shown: {shown!r}")
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            part = os.read(terminal, 4096)
        except OSError:
            part = b""
        holds(part, f"{text!r} is shown before the end: {shown!r}")
        shown += part.decode()


read_until("Do it? [y/N] ")
read_until("no longer asked")
read_until("first: withdrawn")
holds(mode() == 0, f"a question that was taken back changes nothing: {mode():o}")
shown = shown.split("first: withdrawn")[1]
read_until("Do it? [y/N] ")
os.write(terminal, b"y\n")
read_until("second: true")
holds(mode() == 0o500, f"the answer counts: {mode():o}")
holds(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "the program ends well")
print("gate question: taken back, and answered")
