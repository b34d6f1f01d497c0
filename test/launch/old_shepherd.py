#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A shepherd of another version, written from launcher/wire/README.md alone: it greets and waits."""

import os
import sys

MARK = b"\0LAMINA\n"
WORD = (1 << 64) - 1


def rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & WORD


def seal(key, data):
    """SipHash-2-4."""
    k = [int.from_bytes(key[at:at + 8], "little") for at in (0, 8)]
    v = [k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d,
         k[0] ^ 0x6c7967656e657261, k[1] ^ 0x7465646279746573]

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & WORD
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & WORD
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & WORD
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & WORD
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at:at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little")


def main():
    opening = sys.stdin.buffer.read(len(MARK) + 16)
    nonce = opening[len(MARK):]
    key = b"".join(seal(bytes(16), half + nonce) for half in (b"first half", b"other half"))
    payload = (99).to_bytes(2, "little") + (5).to_bytes(4, "little") + b"9.8.7" + b"whatever"
    head = len(payload).to_bytes(4, "little") + (1).to_bytes(2, "little") + bytes(2)
    frame = head + seal(key, (2).to_bytes(8, "little") + head + payload) + payload
    os.write(1, MARK + frame)
    sys.stdin.buffer.read()


main()
