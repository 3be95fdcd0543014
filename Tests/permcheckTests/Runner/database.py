"""Users of a test's own: an /etc that nobody else changes, with more lines in passwd and group."""

import os
import subprocess
import tempfile


def add(passwd, group):
    """Gives this mount namespace its own /etc, and appends these lines.

    Files mounted on /etc/passwd would go when somebody else adds a user: rename(2) over a mount point
    ends it in every other namespace (`detach_mounts()` of fs/namespace.c).
    """
    etc = tempfile.mkdtemp()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", etc], check=True)
    # Others may remove files meanwhile.
    subprocess.run(["cp", "-a", "/etc/.", etc], stderr=subprocess.DEVNULL)
    for name, lines in [("passwd", passwd), ("group", group)]:
        if not os.path.getsize(f"{etc}/{name}"):
            raise RuntimeError(f"/etc/{name} was not copied")
        with open(f"{etc}/{name}", "a") as file:
            file.write(lines)
    subprocess.run(["mount", "--move", etc, "/etc"], check=True)
    os.rmdir(etc)
