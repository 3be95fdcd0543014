#!/usr/bin/env python3
"""A FUSE server of one empty folder with a folder `album`, which answers some requests and then no more.

  server.py MOUNTPOINT UID ANSWERS [OPTION...]

Mounts as fusermount(1) does for a user UID, prints "mounted", and goes on until it is killed. After ANSWERS
answers it prints "stopped" for each request and answers none; "all" answers all. OPTION is one of fuse(4), such as allow_other.
Nobody can end a process that waits for an answer: whoever starts this ends it, and the kernel then ends the wait.
"""
import ctypes
import os
import struct
import sys
import time

LOOKUP, FORGET, GETATTR, STATFS, RELEASE, GETXATTR, LISTXATTR = 1, 2, 3, 17, 18, 22, 23
INIT, OPENDIR, READDIR, RELEASEDIR, ACCESS, INTERRUPT, BATCH_FORGET, READDIRPLUS = 26, 27, 28, 29, 34, 36, 42, 44
ENOENT, ENOSYS, ENODATA = 2, 38, 61


def attributes(node):
    return struct.pack("<6Q10I", node, 0, 0, 0, 0, 0, 0, 0, 0, 0o040755, 2, 0, 0, 0, 512, 0)


def answer(operation, node, body):
    """The error and the bytes of an answer."""
    if operation == INIT:
        return 0, struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 1, 1, 4096, 1, 0, 0, *[0] * 8)
    if operation == LOOKUP:
        if node != 1 or body.rstrip(b"\0") != b"album":
            return ENOENT, b""
        return 0, struct.pack("<4Q2I", 2, 0, 0, 0, 0, 0) + attributes(2)
    if operation == GETATTR:
        return 0, struct.pack("<Q2I", 0, 0, 0) + attributes(node)
    if operation == STATFS:
        return 0, bytes(80)
    if operation == OPENDIR:
        return 0, bytes(16)
    if operation in (READDIR, RELEASEDIR, RELEASE, ACCESS):
        return 0, b""
    if operation in (GETXATTR, LISTXATTR):
        return ENODATA, b""
    return ENOSYS, b""


def serve(point, uid, options, answer, held):
    """Mounts, and answers each request but those of which `held` returns what to print."""
    device = os.open("/dev/fuse", os.O_RDWR)
    options = ",".join([f"fd={device},rootmode=40000,user_id={uid},group_id={uid}", *options])
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"server", os.fsencode(point), b"fuse", 0, options.encode()) != 0:
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    print("mounted", flush=True)
    while True:
        request = os.read(device, 1 << 17)
        _, operation, unique, node = struct.unpack_from("<IIQQ", request)
        if operation in (FORGET, BATCH_FORGET, INTERRUPT):
            continue
        if word := held(operation):
            print(word, flush=True)
            continue
        error, data = answer(operation, node, request[40:])
        os.write(device, struct.pack("<IiQ", 16 + len(data), -error, unique) + data)


def limited(answers, word, counts):
    """Holds each request that counts, once so many were answered.

    "all" holds none, "second" answers every second one, "slow" answers each request after a tenth of a second.
    """
    left = float("inf") if answers in ("all", "second", "slow") else int(answers)
    count = 0

    def held(operation):
        nonlocal left, count
        if answers == "slow":
            time.sleep(0.1)
        if not counts(operation):
            return None
        left -= 1
        count += 1
        return word if left < 0 or answers == "second" and count % 2 else None

    return held


if __name__ == "__main__":
    point, uid, answers, *options = sys.argv[1:]
    serve(point, uid, options, answer, limited(answers, "stopped", lambda operation: operation != INIT))
