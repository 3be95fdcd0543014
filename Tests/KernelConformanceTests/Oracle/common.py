"""Shared vocabulary: capabilities, ACLs, question tokens, files of cases."""

import json
import os
import struct

CAPABILITIES = {
    "CHOWN": 0, "DAC_OVERRIDE": 1, "DAC_READ_SEARCH": 2, "FOWNER": 3, "SYS_PTRACE": 19, "MKNOD": 27,
}  # fmt: skip
LANDLOCK = {
    "EXECUTE": 1 << 0,
    "WRITE_FILE": 1 << 1,
    "READ_FILE": 1 << 2,
    "READ_DIR": 1 << 3,
    "REMOVE_DIR": 1 << 4,
    "REMOVE_FILE": 1 << 5,
    "MAKE_CHAR": 1 << 6,
    "MAKE_DIR": 1 << 7,
    "MAKE_REG": 1 << 8,
    "MAKE_FIFO": 1 << 10,
    "MAKE_SYM": 1 << 12,
    "TRUNCATE": 1 << 14,
}
AT_EACCESS, AT_SYMLINK_NOFOLLOW = 0x200, 0x100


def capability_mask(names):
    return sum(1 << CAPABILITIES[name] for name in names)


def three(value):
    """An id field, a number or [real, effective, fs], as real, effective and fs."""
    return (value, value, value) if isinstance(value, int) else tuple(value)


# ACLs are "u::7,u:1002:4,g::5,g:2001:6,m::7,o::0", in the order in which they are stored. The
# extended attribute is a 2 and (tag, permissions, id) of each, see linux/posix_acl_xattr.h.
ACL_TAGS = {("u", True): 1, ("u", False): 2, ("g", True): 4, ("g", False): 8}
ACL_TAGS |= {("m", True): 16, ("o", True): 32}
ACL_NAMES = {tag: letter for (letter, _), tag in ACL_TAGS.items()}
ACL_UNDEFINED_ID = 0xFFFFFFFF


def acl_encode(text):
    attribute = struct.pack("<I", 2)
    for entry in text.split(","):
        letter, who, permissions = entry.split(":")
        number = int(who) if who else ACL_UNDEFINED_ID
        attribute += struct.pack("<HHI", ACL_TAGS[letter, not who], int(permissions), number)
    return attribute


def acl_decode(attribute):
    entries = []
    for tag, permissions, number in struct.iter_unpack("<HHI", attribute[4:]):
        who = "" if number == ACL_UNDEFINED_ID else number
        entries.append(f"{ACL_NAMES[tag]}:{who}:{permissions}")
    return ",".join(entries)


# Question tokens:
#   o:ACC[+flag..]  open; ACC in r w rw 3; flags trunc app noatime creat excl dir nof path tmp
#   f:RWX[+n]       faccessat2(AT_EACCESS[|AT_SYMLINK_NOFOLLOW]); "f:-" is F_OK
#   a:RWX           access(2), by the real ids
#   x               execveat(AT_EXECVE_CHECK)
#   =CALL[ TO]      an operation; TO is the new name, or OWNER:GROUP of chown
OPEN_MODES = {"r": os.O_RDONLY, "w": os.O_WRONLY, "rw": os.O_RDWR, "3": 3}
OPEN_FLAGS = {
    "trunc": os.O_TRUNC,
    "app": os.O_APPEND,
    "noatime": os.O_NOATIME,
    "creat": os.O_CREAT,
    "excl": os.O_EXCL,
    "dir": os.O_DIRECTORY,
    "nof": os.O_NOFOLLOW,
    "path": os.O_PATH,
    "tmp": os.O_TMPFILE,
}
ACCESS_MODES = {"r": 4, "w": 2, "x": 1, "-": 0}


def asker_question(token):
    """The token as kernel-asker wants it, see Tests/Support/KernelAsker/main.c."""
    if token == "x" or token[0] == "=":
        return token
    call, _, rest = token.partition(":")
    first, *flags = rest.split("+")
    if call == "o":
        number = OPEN_MODES[first]
        for flag in flags:  # which may have bits in common
            number |= OPEN_FLAGS[flag]
        return f"o{number}"
    mode = sum(ACCESS_MODES[letter] for letter in first)
    if call == "a":
        return f"a{mode}"
    return f"f{mode},{AT_EACCESS | (AT_SYMLINK_NOFOLLOW if 'n' in flags else 0)}"


def load(path):
    """The header and the cases of a file."""
    with open(path, encoding="utf-8") as file:
        return json.loads(file.readline()), [json.loads(line) for line in file]
