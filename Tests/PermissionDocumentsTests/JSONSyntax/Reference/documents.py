"""Generates JSON documents from a seed: valid ones of many shapes, and broken ones made of them."""

import random
from zlib import crc32

from nasty import BROKEN, TOKENS, VALID

SPACES = [''] * 28 + [' ', ' ', ' ', '\n', '\t', '\r', '\r\n  ', ' \t\n\r']
KEYS = [
    'a', 'b', 'c', 'id', 'uid', 'mode', 'path', 'time', 'status', 'A', '', 'a b', '\\n', '\\u0061',
    '\\u0000', '\\"', '\u00e9', 'e\u0301', '\\u00e9', 'e\\u0301', '\u65e5\u672c', '\U0001f600',
    '\\ud83d\\ude00', '\u212b', '\u00c5',
]
PIECES = [
    'a', 'b', 'x y', '/dev/video0', 'camera', 'denied', '0', '-', '{}', '[', ',', ':', "'", '/',
    '\x7f', 'NaN', '\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u0000', '\\u001F',
    '\\u0041', '\\u00e9', '\\uFFFF', '\\ud83d\\ude00', '\\uD800\\uDC00', '\\uDBFF\\uDFFF',
    '\\u2028', '\u00e9', 'e\u0301', '\u07ff', '\u0800', '\ud7ff', '\ue000', '\ufeff', '\uffff',
    '\u65e5\u672c', '\U00010000', '\U0001f600', '\U0010ffff', '\u2028', '\u00a0',
]
RARE_PIECES = [
    '\\ud800', '\\udc00', '\\ud83d\\u0041', '\\ud83d\\ue000', '\\ude00\\ud83d', '\\x', '\\v',
    '\\u12g4', '\t', '\x00', '\x1f',
]


class Documents:
    """Documents from one seed."""

    def __init__(self, seed):
        generator = random.Random(seed)
        self.random = generator.random
        self.bits = generator.getrandbits
        # Valid documents that broken ones are made of.
        self.recent = list(VALID)
        # Hand-picked documents come first, as they are.
        self.picked = VALID + BROKEN
        self.seen = bytearray(1 << 24)

    def pick(self, items):
        return items[int(self.random() * len(items))]

    # Valid documents, but for a few faults that mutations of bytes seldom make.

    def number(self):
        chance = self.random()
        if chance < 0.5:
            bits = self.pick((1, 4, 8, 16, 31, 32, 53, 63, 64, 65, 128))
            return str(self.bits(bits) - self.pick((0, 0, 1, 7, 300)))
        text = self.pick(('', '', '-')) + str(self.bits(self.pick((1, 7, 20, 60))))
        if chance < 0.8:
            text += '.' + self.pick(('', '0', '00')) + str(self.bits(self.pick((1, 7, 30, 70))))
        if chance > 0.7:
            text += self.pick('eE') + self.pick(('', '+', '-'))
            text += self.pick(('0', '00', '1', '7', '10', '308', '400'))
        return text

    def string(self):
        chance = self.random()
        if chance < 0.3:
            return '"%x"' % self.bits(self.pick((8, 24, 40, 64, 100)))
        if chance < 0.35:
            # Any scalar but a surrogate, raw or escaped.
            scalar = self.bits(self.pick((7, 11, 16, 20)))
            if chance < 0.325 and scalar < 0x10000:
                return '"\\u%04x"' % scalar
            if scalar < 0x20 or scalar in (0x22, 0x5c) or 0xd800 <= scalar < 0xe000:
                return '"\\u%04x"' % (scalar & 0xff)
            return '"%s"' % chr(scalar)
        text = ''
        for _ in range(int(self.random() * 6)):
            text += self.pick(PIECES)
        if chance > 0.99:
            text += self.pick(RARE_PIECES) + self.pick(PIECES)
        return '"' + text + '"'

    def scalar(self):
        chance = self.random()
        if chance < 0.4:
            return self.number()
        if chance < 0.8:
            return self.string()
        if chance > 0.999:
            return self.pick(('NaN', 'Infinity', '-Infinity'))
        return self.pick(('null', 'true', 'false'))

    def space(self):
        return self.pick(SPACES)

    def value(self, depth):
        chance = self.random()
        if depth == 0 or chance < 0.2:
            return self.scalar()
        count = int(self.random() * 5)
        if chance < 0.55:
            items = [self.space() + self.value(depth - 1) + self.space() for _ in range(count)]
            return '[' + (','.join(items) or self.space()) + ']'
        # Mostly keys that differ, in the order of the list or not.
        start = int(self.random() * len(KEYS))
        step = self.pick((1, 2, 7, 24))
        keys = [KEYS[(start + step * index) % len(KEYS)] for index in range(count)]
        if chance > 0.98:
            keys = [self.pick(KEYS[:6]) for _ in keys]
        items = [self.member(key, depth - 1) for key in keys]
        return '{' + (','.join(items) or self.space()) + '}'

    def member(self, key, depth):
        colon = self.space() + ':' + self.space()
        return self.space() + '"' + key + '"' + colon + self.value(depth) + self.space()

    def large(self):
        """A wide, deep or long document."""
        chance = self.random()
        if chance < 0.4:
            # Around the number of members from which on keys are hashed; sometimes a key twice.
            keys = ['%x' % self.bits(40) for _ in range(14 + int(self.random() * 8))]
            keys += [self.pick(keys)] if chance < 0.1 else []
            return '{' + ','.join('"%s":%s' % (key, self.scalar()) for key in keys) + '}'
        if chance < 0.7:
            # Around the greatest depth.
            count = 124 + int(self.random() * 8)
            opens = [self.pick(('[', '{"a":', '[1,')) for _ in range(count)]
            closes = ['}' if item[0] == '{' else ']' for item in reversed(opens)]
            return ''.join(opens) + self.pick(('1', '[]', '{}', '""')) + ''.join(closes)
        return '[' + ','.join(self.value(2) for _ in range(int(self.random() * 40))) + ']'

    # Broken documents.

    def mutated(self, document):
        chance = self.random()
        place = int(self.random() * (len(document) + 1))
        if chance < 0.25:
            return document[:place] + self.pick(TOKENS) + document[place:]
        if chance < 0.32:
            return document[:place] + bytes((self.bits(8),)) + document[place:]
        if chance < 0.5:
            return document[:place] + document[place + self.pick((1, 1, 1, 2, 3)):]
        if chance < 0.62:
            return document[:place] + self.pick(TOKENS) + document[place + 1:]
        if chance < 0.66:
            return document[:place] + bytes((self.bits(8),)) + document[place + 1:]
        if chance < 0.7 and place < len(document):
            flipped = document[place] ^ 1 << self.bits(3)
            return document[:place] + bytes((flipped,)) + document[place + 1:]
        if chance < 0.8:
            return document[:place]
        if chance < 0.88:
            end = place + int(self.random() * 12)
            return document[:end] + document[place:]
        other = self.pick(self.recent)
        return document[:place] + other[int(self.random() * (len(other) + 1)):]

    def document(self):
        """The next document, which is none of the documents before."""
        while True:
            document = self.candidate()
            # One bit for each hash: of two documents with the same hash the second is left out.
            bit = crc32(document) % (8 * len(self.seen))
            if not self.seen[bit >> 3] >> (bit & 7) & 1:
                self.seen[bit >> 3] |= 1 << (bit & 7)
                return document

    def candidate(self):
        """A valid document, or a broken one in a little more than half of all cases."""
        if self.picked:
            return self.picked.pop()
        chance = self.random()
        if chance < 0.4:
            text = self.value(2) if chance > 0.004 else self.large()
            document = (self.space() + text + self.space()).encode()
            self.recent[int(self.random() * len(self.recent))] = document
            return document
        if chance < 0.9:
            document = self.pick(self.recent)
        else:
            document = self.pick(BROKEN if chance < 0.95 else VALID)
        while True:
            document = self.mutated(document)
            if self.random() < 0.7:
                return document
