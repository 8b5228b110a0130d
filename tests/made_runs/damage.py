"""Files that were damaged on the way, the same ones each time."""

import random


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Cut off, with bytes changed, with a stretch gone or doubled."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at, size = chance.randrange(len(data) + 1), chance.randint(1, 40)
        what = chance.randrange(5)
        if what == 0:
            del data[at:]
        elif what == 1:
            data[at : at + 1] = bytes([chance.randrange(256)])
        elif what == 2:
            del data[at : at + size]
        elif what == 3:
            data[at:at] = data[at : at + size]
        else:
            data[at:at] = chance.choice([b"\x00", b"\x1b[2J", b"1e999", b"-1", b'"', b"\\", b"}]"])
    return bytes(data)
