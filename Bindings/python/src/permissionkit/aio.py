"""The functions of permissionkit for asyncio.

    camera = await permissionkit.aio.check("camera")

Each takes what the function of the same name takes, and runs in another thread, as does a ``consent``. If
its task is cancelled, a request is taken back unless its change has begun, and a wait ends.
"""

from __future__ import annotations

import asyncio
import functools
from typing import Any, AsyncIterator, Callable, Coroutine, Final, Optional, ParamSpec, TypeVar, Union

import permissionkit

from . import AnyPath, Cancellation, Result

__all__ = ["accessors", "check", "explain", "plan", "request", "revoke", "wait", "watch"]

_Parameters = ParamSpec("_Parameters")
_Value = TypeVar("_Value")


def _threaded(
    function: Callable[_Parameters, _Value],
) -> Callable[_Parameters, Coroutine[Any, Any, _Value]]:
    @functools.wraps(function)
    async def call(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> _Value:
        called = functools.partial(function, *arguments, **options)
        return await asyncio.get_running_loop().run_in_executor(None, called)

    return call


def _cancellable(
    function: Callable[_Parameters, _Value],
) -> Callable[_Parameters, Coroutine[Any, Any, _Value]]:
    @functools.wraps(function)
    async def call(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> _Value:
        given = options.get("cancellation")
        cancellation = given if isinstance(given, Cancellation) else Cancellation()
        options["cancellation"] = cancellation
        running = asyncio.ensure_future(_threaded(function)(*arguments, **options))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            cancellation.cancel()
            # Only its end tells what was changed.
            while not running.done():
                try:
                    await asyncio.wait([running])
                except asyncio.CancelledError:
                    continue
            running.exception()  # it was looked at; the task ends as cancelled
            raise

    return call


accessors: Final = _threaded(permissionkit.accessors)
check: Final = _threaded(permissionkit.check)
explain: Final = _threaded(permissionkit.explain)
plan: Final = _threaded(permissionkit.plan)
request: Final = _cancellable(permissionkit.request)
revoke: Final = _threaded(permissionkit.revoke)
wait: Final = _cancellable(permissionkit.wait)


async def watch(
    accessor: str,
    *,
    path: Optional[AnyPath] = None,
    user: Union[str, int, None] = None,
    pid: Optional[int] = None,
    need: str = "",
    all: bool = False,
    through: str = "",
) -> AsyncIterator[Result]:
    """Yields the present result, and one after each change that matters; see ``permissionkit.watch``."""
    loop = asyncio.get_running_loop()
    with permissionkit.watch(
        accessor, path=path, user=user, pid=pid, need=need, all=all, through=through
    ) as watched:
        while True:
            result = watched.get(timeout=0)
            if result is not None:
                yield result
                continue
            ready = asyncio.Event()
            loop.add_reader(watched.fileno(), ready.set)
            try:
                await ready.wait()
            finally:
                loop.remove_reader(watched.fileno())
