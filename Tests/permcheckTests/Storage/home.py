#!/usr/bin/env python3
"""A FUSE server of a home directory that answers each look, and opens as it likes.

  home.py MOUNTPOINT UID OPENS [PATH=TEXT ...]

Mounts for a user UID, with allow_other, prints "mounted", and goes on until it is killed. OPENS says which open(2) of a
file is answered: "all", "none", a number N for the first N alone, or "second" for every second one; with "slow" each
request is answered after a tenth of a second. Folders on the way to a PATH are there, and open. An
open that gets no answer is printed as "held". Nobody can end a process that waits for an answer: whoever starts this ends
it, and the kernel then ends the wait.
"""
import struct
import sys

sys.dont_write_bytecode = True
from server import ACCESS, ENODATA, ENOENT, ENOSYS, GETATTR, GETXATTR, INIT, LISTXATTR, LOOKUP, OPENDIR, READDIR, RELEASE
from server import RELEASEDIR, STATFS, limited, serve

OPEN, READ, FLUSH = 14, 15, 25

point, uid, opens, *files = sys.argv[1:]
uid = int(uid)
# Node 1 is the root; each has a name, its parent, and a text or None for a folder.
nodes = {1: ("", 0, None)}


def node_of(parent, name):
    return next((n for n, (own, above, _) in nodes.items() if own == name and above == parent), None)


for path, text in (file.split("=", 1) for file in files):
    parent = 1
    *folders, last = path.split("/")
    for name in folders:
        number = node_of(parent, name) or len(nodes) + 1
        nodes.setdefault(number, (name, parent, None))
        parent = number
    nodes[len(nodes) + 1] = (last, parent, text.encode())


def attributes(node):
    text = nodes[node][2]
    mode, size = (0o040755, 0) if text is None else (0o100644, len(text))
    return struct.pack("<6Q10I", node, size, 0, 0, 0, 0, 0, 0, 0, mode, 2, uid, uid, 0, 512, 0)


def answer(operation, node, body):
    """The error and the bytes of an answer."""
    if operation == INIT:
        return 0, struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 1, 1, 4096, 1, 0, 0, *[0] * 8)
    if operation == LOOKUP:
        found = node_of(node, body.rstrip(b"\0").decode())
        if found is None:
            return ENOENT, b""
        return 0, struct.pack("<4Q2I", found, 0, 0, 0, 0, 0) + attributes(found)
    if operation == GETATTR:
        return 0, struct.pack("<Q2I", 0, 0, 0) + attributes(node)
    if operation == STATFS:
        return 0, bytes(80)
    if operation in (OPEN, OPENDIR):
        return 0, bytes(16)
    if operation == READ:
        _, offset, size = struct.unpack_from("<QQI", body)
        return 0, nodes[node][2][offset : offset + size]
    if operation in (READDIR, RELEASEDIR, RELEASE, ACCESS, FLUSH):
        return 0, b""
    if operation in (GETXATTR, LISTXATTR):
        return ENODATA, b""
    return ENOSYS, b""


opens = "0" if opens == "none" else opens
serve(point, uid, ["allow_other"], answer, limited(opens, "held", lambda operation: operation == OPEN))
