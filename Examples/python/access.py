#!/usr/bin/env python3
"""Shows whether this program may use something, asks before it changes that, and gives it back.

    access.py NAME [PATH]      NAME: camera, microphone, photos or another accessor

Wants textual. Keys: y agree to the plan, n refuse it, r give the access back, q quit.
Exit status: 0 if there was access at the end; 77 if there was none, with the reason on standard error.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any, Dict, Optional

from textual.app import App, ComposeResult
from textual.widgets import Footer, Header, Static

import permissionkit
from permissionkit import aio


class AccessApp(App[None]):
    """One accessor: its state, what a request would change, and the person's decision."""

    TITLE = "access"
    BINDINGS = [
        ("y", "agree", "Agree"),
        ("n", "refuse", "Refuse"),
        ("r", "give_back", "Give back"),
        ("q", "quit", "Quit"),
    ]

    def __init__(self, accessor: str, path: Optional[str] = None) -> None:
        super().__init__()
        self.accessor = accessor
        self.options: Dict[str, Any] = {} if path is None else {"path": path}
        self.result: Optional[permissionkit.Result] = None
        self.error: Optional[str] = None
        # What the person's last decision came to.
        self.note = ""

    def compose(self) -> ComposeResult:
        yield Header()
        yield Static(id="state", markup=False)
        yield Static(id="plan", markup=False)
        yield Footer()

    async def on_mount(self) -> None:
        self.run_worker(self.follow())

    async def follow(self) -> None:
        """Shows the present state, and each change outside."""
        try:
            async for _ in aio.watch(self.accessor, **self.options):
                await self.show()
        except permissionkit.PermissionKitError as error:
            self.fail(error)

    async def show(self) -> None:
        """Shows the state, and what would change it."""
        try:
            self.result = await aio.plan(self.accessor, **self.options)
        except permissionkit.PermissionKitError as error:
            self.fail(error)
            return
        self.query_one("#state", Static).update(f"{self.result.explanation}\n{self.note}")
        asked = f"{self.result.plan}\nAgree? y or n" if self.result.plan else ""
        self.query_one("#plan", Static).update(asked or self.result.not_requestable or "")

    async def action_agree(self) -> None:
        if self.result is None or self.result.plan is None:
            return
        shown = self.result.plan
        # Only what the person saw: a plan that has become another one is asked anew.
        await self.change(aio.request(self.accessor, consent=lambda plan: plan == shown, **self.options))

    async def action_refuse(self) -> None:
        self.query_one("#plan", Static).update("")

    async def action_give_back(self) -> None:
        await self.change(aio.revoke(self.accessor, **self.options))

    async def change(self, call: Any) -> None:
        try:
            done: permissionkit.Result = await call
            self.note = done.outcome or ""
            await self.show()
        except permissionkit.PermissionKitError as error:
            self.fail(error)

    def fail(self, error: permissionkit.PermissionKitError) -> None:
        self.error = str(error)
        self.query_one("#state", Static).update(self.error)


def main() -> int:
    parser = argparse.ArgumentParser(description="Asks for access to something, and gives it back.")
    parser.add_argument("name")
    parser.add_argument("path", nargs="?")
    arguments = parser.parse_args()
    app = AccessApp(arguments.name, arguments.path)
    if sys.stdin.isatty() and sys.stdout.isatty():
        app.run()
    else:
        # Nobody can be asked, so nothing is changed.
        try:
            app.result = asyncio.run(aio.check(app.accessor, **app.options))
        except permissionkit.PermissionKitError as error:
            app.error = str(error)
    if app.error is None and app.result is not None and app.result.granted:
        return 0
    message = app.error or (app.result.message if app.result else "it was not checked")
    print(f"access: no {arguments.name}: {message}", file=sys.stderr)
    return 77


if __name__ == "__main__":
    sys.exit(main())
