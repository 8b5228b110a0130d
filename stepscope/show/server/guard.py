"""Access control: requests need the token, and a Host header that names this machine.

The token keeps out other users of the machine; the Host header keeps out web pages whose own domain
name was made to point here.
"""

import hmac
import ipaddress
import socket
from collections.abc import Iterable
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER: Final = "x-stepscope-token"
PARAMETER: Final = "token"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_ANY: Final = ("0.0.0.0", "::")
_NO_TOKEN: Final = "The token is missing or wrong: open the address that 'stepscope view' printed."
_HEADERS: Final = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"x-frame-options": b"DENY",
    b"cache-control": b"no-store",
}


class Guard:
    """Around the application; refused requests get one sentence and nothing else."""

    def __init__(self, app: ASGIApp, token: str, host: str) -> None:
        self._app, self._token = app, token
        self._hosts = set(names_of(host))
        self._any_address = host in _ANY

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = self._refusal(scope)
        await (answer or self._app)(scope, receive, _hardened(send))

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        if not self._is_known(headers.get("host", "")):
            return PlainTextResponse("This server does not have that name.", 421)
        if not self._has_token(scope, headers):
            return PlainTextResponse(_NO_TOKEN, 403)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("This server is read-only.", 405)
        return None

    def _is_known(self, host: str) -> bool:
        name = _without_port(host).lower()
        if name in self._hosts:
            return True
        return self._any_address and _is_address(name)

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        given = headers.get(HEADER) or _parameter(scope)
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())


def names_of(host: str) -> Iterable[str]:
    """The Host names the server accepts when it listens on `host`."""
    yield from _LOOPBACK
    yield host.lower()
    if host in _ANY or host not in _LOOPBACK:
        yield socket.gethostname().lower()
        yield socket.getfqdn().lower()


def _parameter(scope: Scope) -> str:
    from urllib.parse import parse_qsl

    try:
        pairs = parse_qsl(scope["query_string"].decode("ascii", "replace"), max_num_fields=20)
    except ValueError:
        return ""
    return next((value for name, value in pairs if name == PARAMETER), "")


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    name, _, port = host.rpartition(":")
    return name if port.isdecimal() and name else host


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _hardened(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message.get("headers", [])}
            more = [(name, value) for name, value in _HEADERS.items() if name not in given]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return sent
