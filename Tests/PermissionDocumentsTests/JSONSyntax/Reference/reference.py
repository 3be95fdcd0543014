#!/usr/bin/env python3
"""Judges generated JSON documents with Python's json, for ReferenceTests.swift.

  reference.py SEED COUNT

Writes COUNT records to standard output, integers little-endian:

  u32     length of the document
  u8      why it is refused, bits of the constants below; 0: it is valid
  u32     length of the dump of its value; for UTF8: the offset of the first byte that is not UTF-8
  u32     length of the compact document of its value
  bytes   the document, the dump, the compact document

Where Python's json is laxer than RFC 8259 and JSONReader, this script is stricter:

  bytes     json.loads(bytes) guesses UTF-16 and UTF-32 and drops a byte order mark: strict UTF-8 is
            decoded first, and JSONDecoder refuses the mark in a string
  NaN, Infinity, -Infinity     parse_constant marks the document as refused
  keys      of a key that comes twice Python keeps the last: object_pairs_hook refuses it
  \\ud800    Python makes a string with a lone surrogate: it cannot be encoded, and is refused
  depth     Python has no bound but that of its stack: more than 128 levels are refused
  strict    JSONDecoder(strict=False) allows control characters in strings: strict stays True
  digits    int() and float() are not called; the digits are kept as they are
"""

import fcntl
import json
import re
import struct
import sys
from json.encoder import encode_basestring

from documents import Documents
from nasty import BROKEN, VALID

SYNTAX, UTF8, CONSTANT, DUPLICATE, SURROGATE, DEEP = 1, 2, 4, 8, 16, 32
MAXIMUM_DEPTH = 128


# What a terminal acts on or does not show: Cc, Cf, Zl and Zp of Unicode 16, and the unassigned between them.
HIDDEN = re.compile(
    '[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e'
    '\u2060-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3'
    '\U0001d173-\U0001d17a\U000e0000-\U000e007f]')


def escaped(match):
    return json.dumps(match[0])[1:-1] if match[0] != '\x7f' else '\\u007f'


class Number(str):
    """A number as its digits."""


class Judge:
    """Decides whether a document is valid, and what its value is."""

    def __init__(self):
        self.reasons = 0
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self.members, parse_constant=self.constant, parse_int=Number,
            parse_float=Number, strict=True)

    def constant(self, _):
        self.reasons |= CONSTANT

    def members(self, pairs):
        if len(pairs) > 1 and len({key for key, _ in pairs}) != len(pairs):
            self.reasons |= DUPLICATE
        return tuple(pairs)

    def value(self, document):
        """The value of a document: numbers are Number, objects are tuples of pairs."""
        self.reasons = 0
        try:
            return self.decoder.decode(document.decode('utf-8', 'strict'))
        except json.JSONDecodeError:
            self.reasons = SYNTAX
        except RecursionError:
            self.reasons = SYNTAX | DEEP
        return None

    def dump(self, value, depth, parts, texts):
        """Appends the dump, which needs no escapes, and the compact document."""
        if isinstance(value, Number):
            parts.append(b'd%d:%b' % (len(value), value.encode()))
            texts.append(value)
        elif isinstance(value, str):
            self.string(value, parts, texts)
        elif isinstance(value, list):
            parts.append(b'a%d:' % len(value))
            separator = '['
            for element in value:
                texts.append(separator)
                self.dump(element, depth + 1, parts, texts)
                separator = ','
            texts.append(']' if value else '[]')
        elif isinstance(value, tuple):
            parts.append(b'o%d:' % len(value))
            separator = '{'
            for key, member in value:
                texts.append(separator)
                self.string(key, parts, texts)
                texts.append(':')
                self.dump(member, depth + 1, parts, texts)
                separator = ','
            texts.append('}' if value else '{}')
        else:
            parts.append(b'n' if value is None else b't' if value else b'f')
            texts.append('null' if value is None else 'true' if value else 'false')
            return
        if depth >= MAXIMUM_DEPTH and isinstance(value, (list, tuple)):
            self.reasons |= DEEP

    def string(self, value, parts, texts):
        try:
            data = value.encode()
            parts.append(b's%d:%b' % (len(data), data))
            texts.append(HIDDEN.sub(escaped, encode_basestring(value)))
        except UnicodeEncodeError:
            self.reasons |= SURROGATE

    def record(self, document):
        """The record of a document."""
        dump = text = b''
        try:
            value = self.value(document)
        except UnicodeDecodeError as error:
            return struct.pack('<IBII', len(document), UTF8, error.start, 0) + document
        if not self.reasons & SYNTAX:
            parts, texts = [], []
            self.dump(value, 0, parts, texts)
            if not self.reasons:
                dump, text = b''.join(parts), ''.join(texts).encode()
        head = struct.pack('<IBII', len(document), self.reasons, len(dump), len(text))
        return b''.join((head, document, dump, text))


def main():
    seed, count = map(int, sys.argv[1:])
    documents, judge = Documents(seed), Judge()
    for document in VALID + BROKEN:
        # The lists and Python must agree; byte 4 of a record holds the reasons.
        if (judge.record(document)[4] == 0) != (document in VALID):
            sys.exit('reference: %r is in the wrong list' % document)
    try:
        # The next records are made while the test compares the last ones.
        fcntl.fcntl(sys.stdout, fcntl.F_SETPIPE_SZ, 1 << 20)
    except (OSError, AttributeError):
        pass
    for start in range(0, count, 1000):
        records = [judge.record(documents.document()) for _ in range(min(1000, count - start))]
        sys.stdout.buffer.write(b''.join(records))


if __name__ == '__main__':
    main()
