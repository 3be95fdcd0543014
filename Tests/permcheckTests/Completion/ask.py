"""Asks a shell for completions, as a person at a terminal does.

  ask.py SHELL PREFIX LINE...

SHELL is bash (with the package bash-completion), bash-alone, zsh or fish; PREFIX is where Scripts/install installed permcheck. Each LINE is typed, up
to the cursor. Prints a line for each: all completions, separated by blanks, as the shell inserts them.
A LINE that ends with a tab is completed with the tab key alone; then the line is printed.
"""
import fcntl, os, pty, re, select, struct, subprocess, sys, tempfile, termios, time

shell, prefix, lines = sys.argv[1], sys.argv[2], sys.argv[3:]
share = f"{prefix}/share"
environment = {
    "HOME": tempfile.mkdtemp(), "LC_ALL": "C.UTF-8", "TERM": "dumb",
    "PATH": f"{prefix}/bin:/usr/local/bin:/usr/bin:/bin",
    # Where bash-completion and fish look, first of all.
    "XDG_DATA_DIRS": f"{share}:/usr/local/share:/usr/share"}
# Each has a key that inserts all completions, and one that prints the line and begins a new one.
BASH = r"""
PS1= PS2=
bind 'set bell-style none'; bind 'set enable-bracketed-paste off'
bind '"\C-t": insert-completions'
bind -x '"\C-x\C-p": printf "\n{{{%s}}}\n" "$READLINE_LINE"; READLINE_LINE='
printf '{{{ready}}}\n'
"""
RC = {
    "bash": "\n. /usr/share/bash-completion/bash_completion" + BASH,
    # Words are not split at "=" here.
    "bash-alone": f"""
. {share}/bash-completion/completions/permcheck
COMP_WORDBREAKS=$' \\t\\n"\\'><;|&('
""" + BASH,
    "zsh": rf"""
fpath=({share}/zsh/site-functions $fpath)
autoload -Uz compinit && compinit -u
unsetopt prompt_sp prompt_cr beep list_beep
PS1= PS2=
all() {{ _main_complete; compstate[insert]=all compstate[list]= }}
zle -C all complete-word all
bindkey '^T' all
show() {{ zle -I; print -r -- "{{{{{{$BUFFER}}}}}}"; BUFFER= }}
zle -N show
bindkey '^X^P' show
precmd() {{ print '{{{{{{ready}}}}}}'; precmd() {{ }} }}
"""}


def answer(terminal):
    """Returns what the shell prints between the marks."""
    seen, end = "", time.monotonic() + 30
    while time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            try:
                seen += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
            found = re.search(r"\{\{\{(.*?)\}\}\}", seen, flags=re.S)
            if found:
                return found.group(1)
    sys.exit(f"ask: {shell} did not answer: {seen!r}")


def ask_fish():
    script = """
for line in $argv
  echo '{{{'
  complete -C $line
end"""
    typed = [line.rstrip("\t") for line in lines]
    done = subprocess.run(
        ["fish", "-c", script, *typed], env=environment, capture_output=True, text=True, check=True)
    if done.stderr:
        sys.exit(done.stderr)
    for answer in done.stdout.split("{{{\n")[1:]:
        print(" ".join(row.split("\t")[0] for row in answer.splitlines()))


def ask_at_terminal():
    start = environment["HOME"] + ("/.zshrc" if shell == "zsh" else "/.bashrc")
    with open(start, "w") as file:
        file.write(RC[shell])
    child, terminal = pty.fork()
    if child == 0:
        program = shell.removesuffix("-alone")
        os.execvpe(program, [program, "-i"], environment)
    # No line is wrapped.
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 4000, 0, 0))
    answer(terminal)
    for line in lines:
        key = "" if line.endswith("\t") else "\x14"
        os.write(terminal, (line + key + "\x18\x10").encode())
        text = answer(terminal)
        typed = line.rsplit(" ", 1)[0] + " "
        inserted = "" if text == line else text.removeprefix(typed).rstrip()
        print(text if line.endswith("\t") else inserted)
    os.close(terminal)
    os.waitpid(child, 0)


ask_fish() if shell == "fish" else ask_at_terminal()
subprocess.run(["rm", "-rf", environment["HOME"]], check=True)
