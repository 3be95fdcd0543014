"""libpermissionkit.so by ctypes: permissionkit.h in Python."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any, NamedTuple, Optional, Union

NAME = "libpermissionkit.so.1"
ALL = 1
ASK = 2
_LETTERS = {"r": 4, "w": 2, "x": 1}


class Options(ctypes.Structure):
    """pk_options."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("path", ctypes.c_char_p),
        ("user", ctypes.c_char_p),
        ("purpose", ctypes.c_char_p),
        ("pid", ctypes.c_int32),
        ("need", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("seconds", ctypes.c_uint32),
    ]


class Found(NamedTuple):
    """The parts of a pk_result, copied."""

    status: str
    granted: bool
    requestable: bool
    reason: str
    message: str
    line: str
    explanation: str
    request: str
    error: str
    json: str


@functools.lru_cache(maxsize=None)
def _loaded() -> ctypes.CDLL:
    name = os.environ.get("PERMISSIONKIT_LIBRARY") or NAME
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise OSError(
            f"{name} cannot be loaded ({error}); install it with Scripts/install --library,"
            " or name the file in PERMISSIONKIT_LIBRARY"
        ) from error
    def declare(name: str, result: Any, *arguments: Any) -> None:
        # An attribute is kept; library[name] would be a new function each time.
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments

    for name in ("pk_check", "pk_request", "pk_explain_path"):
        declare(name, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Options))
    for name in ("status", "is_granted", "is_requestable"):
        declare(f"pk_result_{name}", ctypes.c_int, ctypes.c_void_p)
    for name in ("reason", "message", "line", "explanation", "request", "error", "json"):
        declare(f"pk_result_{name}", ctypes.c_char_p, ctypes.c_void_p)
    declare("pk_result_free", None, ctypes.c_void_p)
    declare("pk_status_name", ctypes.c_char_p, ctypes.c_int)
    declare("pk_version", ctypes.c_char_p)
    return library


def version() -> str:
    found: bytes = _loaded().pk_version()
    return found.decode()


def text(value: str) -> bytes:
    """A text for the library; it ends at a NUL, so it must not have one."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise ValueError("embedded null byte")
    return encoded


def path(value: Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]) -> bytes:
    """The bytes of a path."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise ValueError("embedded null byte")
    return encoded


def number(value: int, name: str, limit: int) -> int:
    """A number that the library has room for; ctypes would cut it off."""
    if not 0 <= value < limit:
        raise ValueError(f"{name} must be from 0 to {limit - 1}, not {value}")
    return value


def options(
    only: Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]", None],
    user: Union[str, int, None],
    pid: Optional[int],
    need: str,
    all: bool,
) -> Options:
    """The options of a call."""
    made = Options(size=ctypes.sizeof(Options))
    made.path = None if only is None else path(only)
    made.user = None if user is None else text(str(user))
    if pid is not None:
        made.pid = number(pid, "pid", 1 << 31)
        if pid == 0:
            raise ValueError("pid must be the id of a process, not 0")
    for letter in need:
        if letter not in _LETTERS:
            raise ValueError(f"need consists of the letters r, w and x, not {letter!r}")
        made.need |= _LETTERS[letter]
    made.flags = ALL if all else 0
    return made


def call(function: str, argument: bytes, made: Options) -> Found:
    """Calls a function that returns a result, and copies the result."""
    library = _loaded()
    result = getattr(library, function)(argument, ctypes.byref(made))

    def part(name: str) -> str:
        found: bytes = getattr(library, f"pk_result_{name}")(result)
        return found.decode()

    try:
        name: bytes = library.pk_status_name(library.pk_result_status(result))
        return Found(
            status=name.decode(),
            granted=bool(library.pk_result_is_granted(result)),
            requestable=bool(library.pk_result_is_requestable(result)),
            reason=part("reason"),
            message=part("message"),
            line=part("line"),
            explanation=part("explanation"),
            request=part("request"),
            error=part("error"),
            json=part("json"),
        )
    finally:
        library.pk_result_free(result)
