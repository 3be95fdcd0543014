"""Can this program use the camera, the microphone and the photos, and if not, why?

    camera = permissionkit.check("camera")
    if not camera:
        sys.exit(f"snapshot: no camera: {camera.message}")

A denial is a result and raises nothing; what is raised is a ``PermissionKitError``, for a name or a user
that does not exist, and ``OSError`` if the library is not installed. Every function may be called by
several threads at once, and none prints: only ``request(..., ask=True)`` writes to the terminal.

``permissionkit.aio`` has the same functions for asyncio.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import os
import select
import threading
import time
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, Type, TypeVar, Union

from . import _library

__all__ = [
    "Cancellation",
    "PermissionKitError",
    "Result",
    "Status",
    "Watch",
    "accessors",
    "check",
    "explain",
    "plan",
    "request",
    "revoke",
    "version",
    "wait",
    "watch",
]

AnyPath = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class Status(enum.Enum):
    """The status of an accessor or path."""

    AUTHORIZED = "authorized"
    """Every device is usable."""
    LIMITED = "limited"
    """Some devices are usable, or a folder can be read but not written."""
    DENIED = "denied"
    """Refused, and a change of permissions could help."""
    RESTRICTED = "restricted"
    """Refused by something else: a container, a security module, a mount."""
    UNAVAILABLE = "unavailable"
    """There is no such device, folder or path."""
    NOT_DETERMINED = "notDetermined"
    """Cannot be determined, for example on a network file system."""


class PermissionKitError(Exception):
    """Something other than a denial: there is no such accessor, user or process, or a change failed."""

    code: str
    """The kind of error: ``invalid-argument``, ``unknown-user``, … as permissionkit.h lists them."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Tuple[Type[PermissionKitError], Tuple[str, str]]:
        return type(self), (self.code, str(self))


class Cancellation:
    """Lets another thread end calls that wait: each ends with the error ``withdrawn``, now and later.

    A change that has begun goes on.
    """

    def __init__(self) -> None:
        self._library = _library.Cancellation()

    def cancel(self) -> None:
        """Ends the calls that have it."""
        self._library.cancel()


@dataclasses.dataclass(frozen=True)
class Result:
    """What a check, a request or an explanation found; true if there is access."""

    status: Status
    granted: bool
    """Whether the status is authorized, or limited without ``all``."""
    requestable: bool
    """Whether a request of this process could turn the refusal into access."""
    requestable_by: Optional[str]
    """Who can make the change that gives access: ``caller`` or ``root``; None without a change."""
    not_requestable: Optional[str]
    """Why no request helps; None if one does, or if there is access."""
    reason: Optional[str]
    """The code of the main reason, such as ``not-in-group``; None if there is none."""
    message: str
    """Why the status is what it is, in one line."""
    line: str
    """The result in one line, as permcheck prints it."""
    explanation: str
    """Every device with its reasons and the commands that help; lines."""
    outcome: Optional[str]
    """What a request did: granted, declined, needs-root or nothing-to-change; None without one.

    Of ``revoke`` it is revoked or nothing-to-change.
    """
    plan: Optional[str]
    """What a request changes or would change, and who else gains, in lines; None if nothing."""
    json: str
    """The document of ``permcheck --json`` as text."""

    def __bool__(self) -> bool:
        return self.granted

    def __str__(self) -> str:
        return self.line

    @property
    def document(self) -> Dict[str, Any]:
        """The document of ``permcheck --json``, which ``permcheck schema`` describes."""
        document: Dict[str, Any] = json.loads(self.json)
        return document


def check(
    accessor: str,
    *,
    path: Optional[AnyPath] = None,
    user: Union[str, int, None] = None,
    pid: Optional[int] = None,
    need: str = "",
    all: bool = False,
    through: str = "",
) -> Result:
    """Checks an accessor: ``camera``, ``microphone`` (``mic``), ``photos`` or another of ``accessors()``.

    path: the only node or folder to check, from ``/``. user: a user by name or number, as after a new
    login; pid: a running process; without both, this thread. need: letters of ``rwx``, by default what
    is usual. all: every device is needed, so limited is no access. through: ``server`` for the sound
    servers, ``any`` for whichever way there is; by default the nodes of ALSA.
    """
    options = _library.options(path, user, pid, need, all, through)
    return _result(_library.call("pk_check", _library.text(accessor), options))


def plan(
    accessor: str,
    *,
    path: Optional[AnyPath] = None,
    user: Union[str, int, None] = None,
    need: str = "",
    all: bool = False,
    seconds: int = 0,
) -> Result:
    """Checks an accessor, and finds what ``request`` would change; changes nothing.

    The change is the ``plan`` of the result.
    """
    options = _library.options(path, user, None, need, all)
    options.seconds = _library.number(seconds, "seconds", 1 << 32)
    return _result(_library.call("pk_plan", _library.text(accessor), options))


def request(
    accessor: str,
    *,
    path: Optional[AnyPath] = None,
    user: Union[str, int, None] = None,
    need: str = "",
    all: bool = False,
    ask: bool = False,
    purpose: Optional[str] = None,
    seconds: int = 0,
    consent: Optional[Callable[[str], bool]] = None,
    cancellation: Optional[Cancellation] = None,
) -> Result:
    """Checks an accessor, and requests access if it is missing and a change of permissions can help.

    Makes the smallest change by which nobody else gets access, as ``permcheck request --yes`` does, and
    only what this process may change: otherwise ``outcome`` is ``needs-root``, and ``explanation`` has
    the commands for an administrator. consent: called with the plan, and returns True to agree; without
    it the call is the consent. ask: a person at the terminal must agree. purpose: why the program asks.
    seconds: how long the grant is meant to last; 0 until ``revoke``. cancellation: takes the request
    back, unless its change has begun.
    """
    options = _library.options(path, user, None, need, all)
    if ask:
        options.flags |= _library.ASK
    options.purpose = None if purpose is None else _library.text(purpose)
    options.seconds = _library.number(seconds, "seconds", 1 << 32)
    asked = None if consent is None else _library.Consent(consent)
    if asked is not None:
        options.consent = asked.callback
    if cancellation is not None:
        options.cancellation = cancellation._library.handle
    found = _library.call("pk_request", _library.text(accessor), options)
    if asked is not None and asked.raised is not None:
        raise asked.raised
    return _result(found)


def revoke(
    accessor: str,
    *,
    path: Optional[AnyPath] = None,
    user: Union[str, int, None] = None,
    need: str = "",
    all: bool = False,
) -> Result:
    """Takes back what requests of an accessor gave, for ``path`` alone if it is given, and checks.

    ``outcome`` is ``revoked``, or ``nothing-to-change`` if nothing had been given.
    """
    options = _library.options(path, user, None, need, all)
    return _result(_library.call("pk_revoke", _library.text(accessor), options))


def wait(
    accessor: str,
    *,
    timeout: Optional[float] = None,
    path: Optional[AnyPath] = None,
    user: Union[str, int, None] = None,
    pid: Optional[int] = None,
    need: str = "",
    all: bool = False,
    through: str = "",
    cancellation: Optional[Cancellation] = None,
) -> Result:
    """Checks an accessor until there is access, at most for ``timeout`` seconds; None without an end.

    Returns the result of the last check. A signal such as that of Ctrl-C ends the wait.
    """
    options = _library.options(path, user, pid, need, all, through)
    given = Cancellation() if cancellation is None else cancellation
    options.cancellation = given._library.handle
    name, left = _library.text(accessor), _milliseconds(timeout)
    return _interruptible(lambda: _result(_library.call("pk_wait", name, options, left)), given)


def watch(
    accessor: str,
    *,
    path: Optional[AnyPath] = None,
    user: Union[str, int, None] = None,
    pid: Optional[int] = None,
    need: str = "",
    all: bool = False,
    through: str = "",
) -> Watch:
    """Watches an accessor: the present result, and one after each change that matters.

    A thread waits for changes until the end of the ``with``:

        with permissionkit.watch("camera") as camera:
            for result in camera:
                print(result)
    """
    return Watch(_library.text(accessor), _library.options(path, user, pid, need, all, through))


class Watch:
    """The results on an accessor, beginning with the present one; a context manager and an iterator.

    ``fileno()`` is readable while there is a result, for ``select`` and event loops.
    """

    def __init__(self, accessor: bytes, options: _library.Options) -> None:
        self._library = _library.Watch(accessor, options)

    def fileno(self) -> int:
        """The descriptor to poll; do not read or close it."""
        return self._library.descriptor()

    def get(self, timeout: Optional[float] = None) -> Optional[Result]:
        """Waits for the next result, at most for ``timeout`` seconds; None if the time is over.

        Of results that nobody took only the last is kept.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            found = self._library.next()
            if found is not None:
                return _result(found)
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return None
            poll = select.poll()
            poll.register(self.fileno(), select.POLLIN)
            poll.poll(None if left is None else math.ceil(left * 1000))

    def close(self) -> None:
        """Ends the watch; also at the end of a ``with``."""
        self._library.close()

    def __iter__(self) -> Iterator[Result]:
        return self

    def __next__(self) -> Result:
        found = self.get()
        if found is None:  # pragma: no cover - there is no end of the wait
            raise StopIteration
        return found

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_library"):
            self.close()


def explain(
    path: AnyPath,
    *,
    user: Union[str, int, None] = None,
    pid: Optional[int] = None,
    need: str = "",
    to: Optional[str] = None,
    target: Optional[AnyPath] = None,
) -> Result:
    """Explains the access to a path: each component, the rule that decides, the smallest change.

    The walk along the path is in ``document``. A relative path begins at the working directory. to: not
    to open the path, but to ``delete`` it, or another operation that ``permcheck explain --to`` knows.
    target: the new path of ``rename`` and ``link``, ``USER:GROUP`` of ``chown``.
    """
    options = _library.options(None, user, pid, need, False)
    options.to = None if to is None else _library.text(to)
    options.target = None if target is None else _library.path(target)
    return _result(_library.call("pk_explain_path", _library.path(path), options))


def accessors() -> Dict[str, str]:
    """The names that ``check`` knows, each with a summary, in the order of ``permcheck list``."""
    return dict(_library.accessors())


def version() -> str:
    """Returns the version of the library that is loaded."""
    return _library.version()


def _result(found: _library.Found) -> Result:
    if found.error:
        raise PermissionKitError(found.error, found.message)
    return Result(
        status=Status(found.status),
        granted=found.granted,
        requestable=found.requestable == 1,
        requestable_by=(None, "caller", "root")[found.requestable],
        not_requestable=found.not_requestable or None,
        reason=found.reason or None,
        message=found.message,
        line=found.line,
        explanation=found.explanation,
        outcome=found.request or None,
        plan=found.plan or None,
        json=found.json,
    )


def _milliseconds(timeout: Optional[float]) -> int:
    if timeout is None:
        return _library.FOREVER
    if not timeout >= 0:
        raise ValueError(f"timeout must be 0 or more, not {timeout}")
    return min(math.ceil(timeout * 1000), _library.FOREVER - 1)


_Value = TypeVar("_Value")


def _interruptible(call: Callable[[], _Value], cancellation: Cancellation) -> _Value:
    """Calls in a thread of its own, so that a signal handler of Python runs meanwhile, and may raise."""
    outcome: list[Union[Tuple[_Value, None], Tuple[None, BaseException]]] = []

    def run() -> None:
        try:
            outcome.append((call(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        cancellation.cancel()
        thread.join()
        raise
    value, error = outcome[0]
    if error is not None:
        raise error
    return value  # type: ignore[return-value]
