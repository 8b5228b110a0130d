"""Others run code in this process with sys.remote_exec, and read its tasks, while it works."""

import asyncio
import os
import pathlib
import subprocess
import sys

TOLD = """
import sys, pathlib
import __main__
__main__.told.append(sum(__main__.work(n) for n in range(5)))
"""
TELL = "import sys; sys.remote_exec(int(sys.argv[1]), sys.argv[2])"
told = []


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


def tell(script):
    done = subprocess.run(
        [sys.executable, "-c", TELL, str(os.getpid()), script], capture_output=True, text=True
    )
    if done.returncode:
        print("skipped:", done.stderr.splitlines()[-1])
        sys.exit()


async def waits():
    lister = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "asyncio", "ps", str(os.getpid()),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    listed, _ = await lister.communicate()
    print(lister.returncode, b"waits" in listed)


def main():
    script = pathlib.Path("told.py").resolve()
    script.write_text(TOLD)
    for times in range(1, 4):
        tell(str(script))
        while len(told) < times:
            work(1000)
        print(told)
    asyncio.run(waits(), debug=False)


main()
