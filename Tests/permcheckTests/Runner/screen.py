"""A pseudo-terminal with a shell that has jobs, for the programs here that play at one."""
import fcntl, os, pty, re, select, signal, struct, termios, time

LIMIT = int(os.environ.get("LIMIT", 120))


class Screen:
    """A terminal with a shell that has jobs, or with one command."""

    def __init__(self, words=("bash", "--norc", "--noprofile", "-i"), **environment):
        self.seen = b""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm", "PS1": "", "HISTFILE": "", "INPUTRC": "/dev/null", **environment})
            os.execvp(words[0], words)
        self.size(40, 100)
        if words[0] == "bash":
            # From here on only what is printed is seen, and not what is typed.
            self.type("bind 'set enable-bracketed-paste off'; stty -echo; PS1='ready> '; echo $((6 * 7))=\n")
            self.until("42=")
            self.until("ready> ")
        elif words[0] == "zsh":
            self.type("unsetopt zle prompt_cr prompt_sp; stty -echo; PS1='ready> '; echo $((6 * 7))=\n")
            self.until("42=")
            self.until("ready> ")

    def size(self, rows, columns):
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.end, text.encode())

    def until(self, pattern, limit=LIMIT):
        """What is printed up to the pattern, which must come."""
        end = time.time() + limit
        while time.time() < end:
            match = re.search(pattern.encode(), self.seen)
            if match:
                text, self.seen = self.seen[: match.end()], self.seen[match.end() :]
                return text.decode(errors="replace")
            if select.select([self.end], [], [], 0.1)[0]:
                try:
                    part = os.read(self.end, 1 << 16)
                except OSError:
                    part = b""
                if not part:
                    break
                self.seen += part
        text, self.seen = self.seen, b""
        return self.missing(pattern, text.decode(errors="replace"))

    def missing(self, pattern, text):
        """What `until` returns if the pattern did not come, but the text."""
        return text

    def close(self):
        """Ends all that the session started, also what is stopped, and waits for its first process."""
        os.close(self.end)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    session = int(file.read().rpartition(")")[2].split()[3])
                if session == self.pid:
                    os.kill(int(pid), signal.SIGKILL)
            except OSError:  # It ended meanwhile, or is another's.
                pass
        os.waitpid(self.pid, 0)
