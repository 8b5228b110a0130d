"""Copies stdin to stdout, byte by byte as it came."""

import sys

sys.stdout.buffer.write(sys.stdin.buffer.read())
