"""Starts `stepscope view` as a user would, and sends it HTTP requests."""

import contextlib
import http.client
import json
import os
import re
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

PATIENCE_S = 60.0  # only how long to wait before a hang counts as a failure
ADDRESS = re.compile(r"http://(?P<host>[^/]+):(?P<port>\d+)/\?token=(?P<token>\S+)")


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Viewer(NamedTuple):
    address: str
    port: int
    token: str
    said: list[str]

    def ask(self, path: str, *, method: str = "GET", **headers: str) -> Answer:
        """With the token and the right host, unless `headers` say otherwise."""
        given = {"Host": f"127.0.0.1:{self.port}", "X-Stepscope-Token": self.token}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.putrequest(method, path, skip_host=True)
            for name, value in given.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def run(self, name: str) -> Any:
        answer = self.ask(f"/api/run?run={quote(name)}")
        assert answer.status == 200, answer.body
        return answer.json


@contextlib.contextmanager
def viewer(*words: str, cwd: Path, env: Mapping[str, str] = {}) -> Iterator[Viewer]:
    """The server, from when it prints its address to its end."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SSH_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "stepscope", "view", "--port", "0", "--no-browser", *words],
        cwd=cwd, env={**clean, **env}, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, bufsize=0,
    )  # fmt: skip
    try:
        said = _until_it_listens(process)
        found = next(match for line in said if (match := ADDRESS.search(line)))
        yield Viewer(found[0], int(found["port"]), found["token"], said)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        assert process.stderr is not None
        process.stderr.close()


def _until_it_listens(process: "subprocess.Popen[bytes]") -> list[str]:
    assert process.stderr is not None
    said: list[str] = []
    while not said or "Ctrl-C" not in said[-1]:
        assert select.select([process.stderr], [], [], PATIENCE_S)[0], f"it said only {said}"
        line = process.stderr.readline().decode()
        assert line, f"it ended: {said}"
        said.append(line)
    return said
