"""Judges permcheck's answers for lib.sh.

One process serves a whole scenario: under emulation each start of jq would take
half a second. Its argument is a folder. Each line on standard input is an exit
status and a Python expression about the answer in FOLDER/answer; FOLDER/said
gets `ok` or what went wrong, then the answer in short; then a line goes to
standard output. The expression may use the functions below.
"""
import json
import re  # for expressions
import sys


class Fields(dict):
    """A JSON object whose fields are attributes; one that is not there is None."""

    __getattr__ = dict.get


answer, exit_status = Fields(), -1


def report(accessor):
    return next(r for r in answer.reports if r.accessor == accessor)


def status(accessor):
    return report(accessor).status


def paths(accessor):
    return [r.path for r in report(accessor).resources]


def resource(path):
    return next(r for report in answer.reports for r in report.resources if r.path == path)


def honest(truth, may_be_open, way):
    """Whether what is said of the photo folder is what its user can really do."""
    said = status("photos")
    if said == "notDetermined":
        # Asked in these ways alone: "self", "write", "user".
        kind = "user" if way.startswith("--user") else "write" if "--probe" in way else "self"
        return kind in may_be_open.split()
    wanted = {"listwrite": ["authorized"], "list": ["limited"]}
    return said in wanted.get(truth, ["denied", "restricted"])


def within(value, key):
    """Every object inside `value` that has the field `key`."""
    if isinstance(value, dict):
        if key in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for v in value:
            yield from within(v, key)


def reasons(accessor):
    return list(within(report(accessor), "code"))


def has(accessor, code, certainty=None):
    return any(r.code == code and certainty in (None, r.certainty) for r in reasons(accessor))


def evidence(accessor, code):
    """Message and evidence of a reason, as one text."""
    return " ".join(f"{r.message} {json.dumps(r.evidence)}" for r in reasons(accessor) if r.code == code)


def remedies(accessor):
    return [m for o in within(report(accessor), "remedies") for m in o.remedies]


def errnos(accessor):
    return [o.errno for o in within(report(accessor), "errno")]


def exits(number):
    """Both permcheck's exit status and the one in its document."""
    return exit_status == number == answer.exitStatus


def summary():
    for r in answer.reports or []:
        who = f", requestable by {r.requestableBy}" if r.requestableBy else ""
        yield f"{r.accessor} {r.status}{who}"
        for s in r.resources + (r.alternatives or []):
            d, p = s.decision or Fields(), s.probe
            decided = " ".join(str(v) for v in (d.verdict, d.errno) if v)
            probed = (p.errno or "ok") if p else "none"
            yield f"  {s.path} [{s.label}] {s.status}, predicted {decided} by {d.rule} at {d.component}, probe {probed}"
            for reason in s.reasons or []:
                yield f"    {reason.code} ({reason.certainty}): {reason.message}"


folder = sys.argv[1]
for line in sys.stdin:
    number, expression = line.split(maxsplit=1)
    text, lines = "", []
    try:
        with open(f"{folder}/answer", errors="surrogateescape") as file:
            text = file.read()
        exit_status, answer = int(number), Fields()
        answer = json.loads(text, object_hook=Fields)
        lines = list(summary())
        said = eval(expression)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        lines = lines or text.splitlines()
    with open(f"{folder}/said", "w", errors="backslashreplace") as file:
        print("ok" if said is True else f"got: {said}", *lines, sep="\n", file=file)
    print(flush=True)
