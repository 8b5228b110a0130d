"""What the viewer's server answers: the page, the list of runs, a run, tiles of its timeline,
and how far it has got with preparing them."""

from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from stepscope.errors import DataError, StepscopeError
from stepscope.show.report.bundle import bundle
from stepscope.show.report.page import encoded, policy, viewer
from stepscope.show.server.guard import Guard
from stepscope.show.server.runs import Opened, Runs

_JSON: Final = "application/json"
_MOST_PIXELS: Final = 8_192
_FARTHEST_NS: Final = 2**60


def application(runs: Runs, *, token: str, host: str) -> ASGIApp:
    """Every answer is computed in a thread, so that a long analysis blocks nothing else."""
    page, headers = viewer(), {"content-security-policy": _policy()}

    def index(request: Request) -> Response:
        return Response(page, media_type="text/html", headers=headers)

    def listed(request: Request) -> Response:
        folder = str(runs.path)
        return _json({"folder": folder, "is_single": runs.is_single, "runs": runs.entries()})

    def run(request: Request) -> Response:
        return Response(runs.open(_run_of(request)).body, media_type=_JSON)

    def compared(request: Request) -> Response:
        return _json(runs.compare(request.query_params.get("before", ""), _run_of(request)))

    def version(request: Request) -> Response:
        return _json({"version": runs.version(_run_of(request))})

    def progress(request: Request) -> Response:
        return _json(runs.progress(_run_of(request)))

    def tile(request: Request) -> Response:
        return _json(_tile(request, runs.open(_run_of(request))))

    routes = [
        Route("/", index),
        Route("/api/runs", listed),
        Route("/api/run", run),
        Route("/api/compare", compared),
        Route("/api/version", version),
        Route("/api/tile", tile),
        Route("/api/progress", progress),
    ]
    handlers = {StepscopeError: _refused, Exception: _failed}
    app = Starlette(routes=routes, exception_handlers=handlers)
    return Guard(app, token, host)


def _json(answer: Any, status_code: int = 200) -> Response:
    return Response(encoded(answer), status_code=status_code, media_type=_JSON)


def _tile(request: Request, opened: Opened) -> dict[str, Any]:
    """The version with it: the run may have gone on since the page asked for others."""
    from_ns, to_ns = _number(request, "from"), _number(request, "to")
    width = min(_number(request, "width"), _MOST_PIXELS)
    if to_ns <= from_ns or width < 1:
        raise DataError("A tile must end after it starts and be at least one pixel wide.")
    return {"version": opened.version, "tile": opened.tile(from_ns, to_ns, width)}


def _policy() -> str:
    return policy(bundle(), connects=True) + "; frame-ancestors 'none'"


def _run_of(request: Request) -> str:
    return request.query_params.get("run", "")


def _number(request: Request, name: str) -> int:
    """May be negative: spans from before the recording are shown, too."""
    text = request.query_params.get(name, "")
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdecimal() or len(digits) > 19:
        raise DataError(f"'{name}' is not a number of nanoseconds or pixels.")
    return max(-_FARTHEST_NS, min(int(text), _FARTHEST_NS))


async def _refused(request: Request, error: Exception) -> Response:
    return _json({"trouble": str(error)}, 404)


async def _failed(request: Request, error: Exception) -> Response:
    message = f"A bug in stepscope: {type(error).__name__}: {error}"
    return _json({"trouble": message}, 500)
