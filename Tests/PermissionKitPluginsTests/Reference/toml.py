#!/usr/bin/env python3
"""Documents of TOML, and what Python's tomllib takes each for.

    toml.py SEED COUNT      COUNT random and mutated documents
    toml.py FILE...         these files

Prints a line for each: the document in hexadecimal, and its meaning: "-" if it is no TOML, "other" if it has
what permcheck does not read (fractions, dates, numbers of more than 64 bits, keys of more than 8 parts, more
than 8 values in each other), else the value as meaning() writes it.
"""
import random
import sys

try:
    import tomllib
except ImportError:  # before Python 3.11
    import tomli as tomllib


def meaning(value):
    """The value as text, with keys and texts in hexadecimal."""
    if isinstance(value, bool):
        return "b%d" % value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return "i%d" % value
    if isinstance(value, str):
        return "s" + value.encode().hex()
    if isinstance(value, list):
        return "[" + ",".join(map(meaning, value)) + "]"
    if isinstance(value, dict):
        members = sorted(key.encode().hex() + "=" + meaning(value[key]) for key in value)
        return "{" + ",".join(members) + "}"
    raise OverflowError


def judge(document):
    try:
        # A mark of the byte order is of the file and not of the text.
        value = tomllib.loads(document.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return "-"
    except ValueError:  # a number of more digits than Python reads, a day that is in no calendar
        return "-"
    try:
        return meaning(value)
    except OverflowError:
        return "other"


KEYS = ["name", "a", "b", "a.b", "a.b.c", "b . a", '"a"', "'b'.a", '"\\u0061"', "é", '"é"', '"e\u0301"', "-_", "1",
        '""', "a..b", '"a\\nb"', "expect"]
TEXTS = ["x", "é", "😀", "\\t", "\\u00e9", "\\ud800", "\\U00110000", "\\e", "\\x41", '\\"', "\\\\", "'", '"', "#",
         "]", "\\\n  ", "\\ \r\n\t", "\n", "\r\n", "\r", "\t", "\x01", "\x7f", "\u2028", "\\/", ",", "="]
OTHERS = ["1", "-0", "+7", "007", "0x1F", "0Xf", "0o17", "0b1_0", "+0x1", "1_000", "1__0", "_1", "1_", "-", "+",
          "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e9", "1.5", "1.", ".5", "inf",
          "-nan", "true", "True", "07:32:00", "1979-05-27", "1979-05-27 07:32:00Z", "1979-13-27", "nothing", ""]
BLANKS = ["", "", " ", "\t ", " # x\n", "\n", "\r\n", "  ", "#\x7f", "\u00a0", "\r"]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def blank(self):
        return " " if self.random.random() < 0.7 else self.random.choice(BLANKS)

    def text(self):
        quote = self.random.choice(['"', '"', "'", '"""', "'''"])
        parts = ["x" if self.random.random() < 0.75 else self.random.choice(TEXTS)
                 for _ in range(self.random.randrange(4))]
        return quote + "".join(parts) + quote

    def value(self, depth=0):
        kind = self.random.randrange(12 if depth < 3 else 9)
        if kind < 6:
            return self.text()
        if kind < 9:
            # Mostly what is a value.
            return self.random.choice(OTHERS if self.random.random() < 0.4 else ["1", "true", "0x1F", "-5"])
        count = self.random.randrange(4)
        if kind < 11:
            return "[" + ",".join(self.blank() + self.value(depth + 1) + self.blank() for _ in range(count)) + "]"
        members = (self.random.choice(KEYS) + " = " + self.value(depth + 1) for _ in range(count))
        return "{" + ", ".join(members) + "}"

    def document(self):
        text = "\ufeff" if self.random.random() < 0.03 else ""
        for _ in range(self.random.randrange(6)):
            key = self.random.choice(KEYS)
            kind = self.random.randrange(8)
            if kind == 0:
                text += "[%s]%s\n" % (key, self.blank())
            elif kind == 1:
                text += "[[%s]]\n" % key
            else:
                text += key + self.blank() + "=" + self.blank() + self.value() + self.blank() + "\n"
        document = bytearray(text.encode())
        while document and self.random.random() < 0.25:
            place = self.random.randrange(len(document))
            kind = self.random.randrange(4)
            if kind == 0:
                document[place] = self.random.randrange(256)
            elif kind == 1:
                del document[place]
            else:
                document.insert(place, self.random.choice(b"\"'[]{}=.,#\\\n\r01_") if kind == 2 else self.random.randrange(128))
        return bytes(document)


def main(arguments):
    if len(arguments) == 2 and arguments[0].isdigit():
        maker = Maker(int(arguments[0]))
        documents = [maker.document() for _ in range(int(arguments[1]))]
    else:
        documents = [open(name, "rb").read() for name in arguments]
    for document in documents:
        print(document.hex() or "-", judge(document))


main(sys.argv[1:])
