"""libpermissionkit.so by ctypes: permissionkit.h in Python."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any, Callable, List, NamedTuple, Optional, Tuple, Union

NAME = "libpermissionkit.so.1"
ALL = 1
ASK = 2
FOREVER = (1 << 32) - 1
_LETTERS = {"r": 4, "w": 2, "x": 1}
_WAYS = ("", "server", "any")
_CONSENT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
_TELL = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)


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
        ("consent", _CONSENT),
        ("consent_data", ctypes.c_void_p),
        ("cancellation", ctypes.c_void_p),
        ("to", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("through", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class Found(NamedTuple):
    """The parts of a pk_result, copied."""

    status: str
    granted: bool
    requestable: int
    not_requestable: str
    reason: str
    message: str
    line: str
    explanation: str
    request: str
    plan: str
    error: str
    json: str


@functools.lru_cache(maxsize=None)
def _loaded() -> ctypes.CDLL:
    # A wheel of Release/wheel has the library beside this file.
    beside = os.path.join(os.path.dirname(__file__), NAME)
    name = os.environ.get("PERMISSIONKIT_LIBRARY") or (beside if os.path.exists(beside) else NAME)
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

    for name in ("check", "plan", "request", "revoke", "explain_path", "watch_new"):
        declare(f"pk_{name}", ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Options))
    declare("pk_wait", ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Options), ctypes.c_uint32)
    declare("pk_watch_descriptor", ctypes.c_int, ctypes.c_void_p)
    declare("pk_watch_next", ctypes.c_void_p, ctypes.c_void_p)
    declare("pk_watch_free", None, ctypes.c_void_p)
    declare("pk_cancellation_new", ctypes.c_void_p)
    declare("pk_cancel", None, ctypes.c_void_p)
    declare("pk_cancellation_free", None, ctypes.c_void_p)
    declare("pk_accessors", None, _TELL, ctypes.c_void_p)
    for name in ("status", "is_granted", "requestability"):
        declare(f"pk_result_{name}", ctypes.c_int, ctypes.c_void_p)
    for name in ("reason", "message", "line", "explanation", "not_requestable", "request", "plan", "error", "json"):
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
    through: str = "",
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
    if through not in _WAYS:
        raise ValueError(f"through is server or any, not {through!r}")
    made.through = _WAYS.index(through)
    return made


class Consent:
    """A function that agrees to a plan, for the options; what it raises is kept, and is no consent."""

    def __init__(self, agrees: Callable[[str], bool]) -> None:
        self.raised: Optional[BaseException] = None

        def ask(plan: bytes, _: Any) -> int:
            try:
                return 1 if agrees(plan.decode()) is True else 0
            except BaseException as error:  # ctypes would print it
                self.raised = error
                return 0

        self.callback = _CONSENT(ask)


class Cancellation:
    """A pk_cancellation."""

    def __init__(self) -> None:
        self.handle: int = _loaded().pk_cancellation_new()

    def cancel(self) -> None:
        _loaded().pk_cancel(self.handle)

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", None), 0
        if handle:
            _loaded().pk_cancellation_free(handle)


class Watch:
    """A pk_watch."""

    def __init__(self, argument: bytes, made: Options) -> None:
        self._handle: Optional[int] = _loaded().pk_watch_new(argument, ctypes.byref(made))

    @property
    def handle(self) -> int:
        if self._handle is None:
            raise ValueError("the watch is closed")
        return self._handle

    def descriptor(self) -> int:
        found: int = _loaded().pk_watch_descriptor(self.handle)
        return found

    def next(self) -> Optional[Found]:
        result: Optional[int] = _loaded().pk_watch_next(self.handle)
        return None if result is None else taken(result)

    def close(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            _loaded().pk_watch_free(handle)


def accessors() -> List[Tuple[str, str]]:
    """The name and the summary of each accessor."""
    found: List[Tuple[str, str]] = []

    def tell(name: bytes, summary: bytes, _: Any) -> None:
        found.append((name.decode(), summary.decode()))

    _loaded().pk_accessors(_TELL(tell), None)
    return found


def call(function: str, argument: bytes, made: Options, *more: int) -> Found:
    """Calls a function that returns a result, and copies the result."""
    return taken(getattr(_loaded(), function)(argument, ctypes.byref(made), *more))


def taken(result: int) -> Found:
    """Copies a result, and frees it."""
    library = _loaded()

    def part(name: str) -> str:
        found: bytes = getattr(library, f"pk_result_{name}")(result)
        return found.decode()

    try:
        name: bytes = library.pk_status_name(library.pk_result_status(result))
        return Found(
            status=name.decode(),
            granted=bool(library.pk_result_is_granted(result)),
            requestable=library.pk_result_requestability(result),
            not_requestable=part("not_requestable"),
            reason=part("reason"),
            message=part("message"),
            line=part("line"),
            explanation=part("explanation"),
            request=part("request"),
            plan=part("plan"),
            error=part("error"),
            json=part("json"),
        )
    finally:
        library.pk_result_free(result)
