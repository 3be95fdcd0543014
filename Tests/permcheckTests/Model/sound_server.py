"""A sound server that speaks PulseAudio's native protocol, as its argument says.

    sound_server.py SOCKET MANNER UID [NAME]

It listens as UID under the process name NAME, prints `ready`, and one line for each connection.
"""
import ctypes, os, socket, struct, sys, time

path, manner, uid = sys.argv[1], sys.argv[2], int(sys.argv[3])
if uid:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
libc = ctypes.CDLL(None)
libc.prctl(4, 1)  # PR_SET_DUMPABLE: its user may see what it has open
libc.prctl(15, (sys.argv[4] if len(sys.argv) > 4 else "pulseaudio").encode())
NONE = 0xFFFFFFFF


def text(value):
    return b"N" if value is None else b"t" + value.encode() + b"\0"


def number(value):
    return b"L" + struct.pack(">I", value)


def source(name, about, muted=False, monitors=NONE, driver="module-alsa-card.c"):
    return (number(1) + text(name) + text(about) + b"a" + struct.pack(">BBI", 3, 2, 48000) + b"m\x02\x01\x02"
            + number(5) + b"v\x02" + struct.pack(">II", 65536, 65536) + (b"1" if muted else b"0")
            + number(monitors) + text(None) + b"U" + bytes(8) + text(driver) + number(4))


monitor = source("speaker.monitor", "Monitor of Speaker", monitors=0)
lists = {
    "offers": monitor + source("mic", "Lab microphone"),
    "two": source("mic", "Lab microphone") + source("line", "Line in"),
    "muted": source("mic", "Lab microphone", muted=True),
    "monitors": monitor,
    "nothing": b"",
    "stand-in": source("auto_null", "Dummy", driver="module-null-source.c"),
    "half": source("mic", "Lab microphone")[:-3],
    "noise": b"\xff" * 300,
    "escapes": source("mic", "\x1b[31mred\nline"),
}


def packet(command, tag, body=b""):
    content = number(command) + number(tag) + body
    return struct.pack(">5I", len(content), NONE, 0, 0, 0) + content


def exact(peer, count):
    data = b""
    while len(data) < count:
        part = peer.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def serve(peer):
    if manner == "silent":
        time.sleep(30)
    if manner == "trickles":
        peer.sendall(struct.pack(">5I", 1000000, NONE, 0, 0, 0))
        while True:
            peer.sendall(b"x")
    if manner == "flood":
        while True:
            peer.sendall(struct.pack(">5I", 60000, 7, 0, 0, 0) + bytes(60000))
    while True:
        head = exact(peer, 20)
        content = exact(peer, struct.unpack(">I", head[:4])[0])
        command, tag = struct.unpack(">xIxI", content[:10])
        if manner == "refuses":
            peer.sendall(packet(0, tag, number(1)))
        elif manner == "long":
            peer.sendall(struct.pack(">5I", 0x7FFFFFFF, NONE, 0, 0, 0) + bytes(100))
        elif manner == "closes" and command == 24:
            return
        elif manner == "drips":
            for byte in packet(2, tag):
                peer.sendall(bytes([byte]))
                time.sleep(0.02)
        elif command == 24:
            # What carries sound, and answers to others, are not for this question.
            peer.sendall(struct.pack(">5I", 4, 3, 0, 0, 0) + b"abcd" + packet(2, 99) + packet(2, tag, lists[manner]))
        else:
            peer.sendall(packet(2, tag, number(35) if command == 8 else b""))


listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
if manner != "bound":
    listener.listen()
print("ready", flush=True)
while manner != "bound":
    peer, _ = listener.accept()
    print("asked", flush=True)
    try:
        serve(peer)
    except (EOFError, OSError):
        pass
    peer.close()
time.sleep(60)
