"""Fuzzes the scanner of traces: fuzz_scanner.py LIBRARY CORPUS SEED COUNT [NEW CORPUS].

Says how many texts it began with, and how many ways through the scanner it knows at the end: a text
each. CORPUS has a text a line, as JSON, a character a byte.
"""

import ctypes
import json
import sys
from pathlib import Path

library, corpus, seed, count, *new = sys.argv[1:]
scanner = ctypes.CDLL(library)
scanner.fuzz.argtypes = [ctypes.c_uint64, ctypes.c_long]
scanner.fuzz.restype = scanner.kept_size.restype = ctypes.c_long
scanner.kept_size.argtypes = scanner.kept_text.argtypes = [ctypes.c_long]
scanner.kept_text.restype = ctypes.c_void_p

texts = [json.loads(line).encode("latin-1") for line in Path(corpus).read_text().splitlines()]
for text in texts:
    scanner.begin_with(text, ctypes.c_long(len(text)))
known = scanner.fuzz(int(seed), int(count))
print(len(texts), known)
if new:
    found = [ctypes.string_at(scanner.kept_text(i), scanner.kept_size(i)) for i in range(known)]
    Path(new[0]).write_text("".join(json.dumps(text.decode("latin-1")) + "\n" for text in found))
