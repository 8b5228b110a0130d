"""stdin, stdout and stderr: encodings, replaced, redirected and closed."""

import contextlib
import io
import locale
import os
import sys

print(sys.stdin.encoding, sys.stdout.encoding, sys.stderr.encoding, sys.stdout.errors)
print(locale.getpreferredencoding(), sys.getfilesystemencoding(), sys.flags.utf8_mode)
print(sys.stdout.line_buffering, sys.stdout.isatty(), sys.stdin.fileno(), locale.getlocale())
print("ünïcödé \udcff".encode("utf-8", "surrogateescape"), input(), sys.stdin.readline())
print(sys.stdin.read(5), sys.stdin.buffer.read(), sep="|")
captured = io.StringIO()
with contextlib.redirect_stdout(captured):
    print("captured")
sys.stdout = captured
print("also")
sys.stdout = sys.__stdout__
print(captured.getvalue())
sys.stdout.flush()
saved = os.dup(1)
with open("redirected.txt", "wb") as file:
    os.dup2(file.fileno(), 1)
    print("to the file", flush=True)
    os.system("echo from a shell")
os.dup2(saved, 1)
os.close(saved)
print(open("redirected.txt").read(), sorted(os.listdir()))
sys.stderr.write("to stderr\n")
sys.stderr = None
os.close(2)
print(os.open("took its place", os.O_CREAT | os.O_WRONLY) == 2)
os.write(2, b"mine")
for turn in range(2000):
    turn += 1
print(open("took its place").read())
os.close(0)
sys.stdout.write("no newline at the end")
