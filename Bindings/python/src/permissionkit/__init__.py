"""Can this program use the camera, the microphone and the photos, and if not, why?

    camera = permissionkit.check("camera")
    if not camera:
        sys.exit(f"snapshot: no camera: {camera.message}")

A denial is a result and raises nothing; what is raised is a ``PermissionKitError``, for a name or a user
that does not exist, and ``OSError`` if the library is not installed. Every function may be called by
several threads at once, and none prints: only ``request(..., ask=True)`` writes to the terminal.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import os
from typing import Any, Dict, Optional, Union

from . import _library

__all__ = ["PermissionKitError", "Result", "Status", "check", "explain", "request", "version"]

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


@dataclasses.dataclass(frozen=True)
class Result:
    """What a check, a request or an explanation found; true if there is access."""

    status: Status
    granted: bool
    """Whether the status is authorized, or limited without ``all``."""
    requestable: bool
    """Whether a request could turn the refusal into access."""
    reason: Optional[str]
    """The code of the main reason, such as ``not-in-group``; None if there is none."""
    message: str
    """Why the status is what it is, in one line."""
    line: str
    """The result in one line, as permcheck prints it."""
    explanation: str
    """Every device with its reasons and the commands that help; lines."""
    outcome: Optional[str]
    """What a request did: granted, declined, needs-root or nothing-to-change; None without one."""
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
) -> Result:
    """Checks an accessor: ``camera``, ``microphone`` (``mic``) or ``photos``.

    path: the only node or folder to check, from ``/``. user: a user by name or number, as after a new
    login; pid: a running process; without both, this thread. need: letters of ``rwx``, by default what
    is usual. all: every device is needed, so limited is no access.
    """
    options = _library.options(path, user, pid, need, all)
    return _result(_library.call("pk_check", _library.text(accessor), options))


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
) -> Result:
    """Checks an accessor, and requests access if it is missing and a change of permissions can help.

    Makes the smallest change by which nobody else gets access access, as ``permcheck request --yes`` does, and
    only what this process may change: otherwise ``outcome`` is ``needs-root``, and ``explanation`` has
    the commands for an administrator. ask: a person at the terminal must agree. purpose: why the program
    asks. seconds: how long the grant is meant to last; 0 until ``permcheck revoke``.
    """
    options = _library.options(path, user, None, need, all)
    if ask:
        options.flags |= _library.ASK
    options.purpose = None if purpose is None else _library.text(purpose)
    options.seconds = _library.number(seconds, "seconds", 1 << 32)
    return _result(_library.call("pk_request", _library.text(accessor), options))


def explain(
    path: AnyPath,
    *,
    user: Union[str, int, None] = None,
    pid: Optional[int] = None,
    need: str = "",
) -> Result:
    """Explains the access to a path: each component, the rule that decides, the smallest change.

    The walk along the path is in ``document``. A relative path begins at the working directory.
    """
    options = _library.options(None, user, pid, need, False)
    return _result(_library.call("pk_explain_path", _library.path(path), options))


def version() -> str:
    """Returns the version of the library that is loaded."""
    return _library.version()


def _result(found: _library.Found) -> Result:
    if found.error:
        raise PermissionKitError(found.error, found.message)
    return Result(
        status=Status(found.status),
        granted=found.granted,
        requestable=found.requestable,
        reason=found.reason or None,
        message=found.message,
        line=found.line,
        explanation=found.explanation,
        outcome=found.request or None,
        json=found.json,
    )
