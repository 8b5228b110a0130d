"""The HTML around the page's code and its data. Nothing in a run can become code here:

1. The data is JSON in an element that browsers do not execute, with every `<` spelled out.
2. The policy allows the one script and the one style whose hashes it names, and no request.
3. The page makes text nodes only: the policy forbids it to parse HTML.
"""

import base64
import hashlib
import html
import json
from typing import Any, Final

import msgspec

from stepscope.show.report.bundle import Bundle, bundle
from stepscope.show.report.shapes import Content

_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>stepscope</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<div id="app"><p class="boot">This report needs JavaScript to be drawn.</p></div>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""
_FEW_SPANS: Final = (
    "The timeline has {:,} spans: short ones that are close together are shown as one. "
    "'stepscope view' shows all of them."
)


def report(content: Content) -> bytes:
    """One file that holds everything and loads nothing from elsewhere."""
    return _page(encoded({"mode": "file", "content": _shortened(content)}), connects=False)


def _shortened(content: Content) -> Content:
    """With a note if the file does not hold every span."""
    lanes = content.timeline.lanes if content.timeline else []
    if all(lane.spans == len(lane.start) for lane in lanes):
        return content
    note = _FEW_SPANS.format(sum(lane.spans for lane in lanes))
    return msgspec.structs.replace(content, reduced=[note, *content.reduced])


def viewer() -> bytes:
    """The same page without a run: it asks the server that it was loaded from."""
    return _page(encoded({"mode": "server"}), connects=True)


def encoded(value: Any) -> bytes:
    """JSON; lone surrogates, which UTF-8 cannot hold, as escapes."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode()


def policy(parts: Bundle, *, connects: bool) -> str:
    """What the browser may do with the page."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(parts.script)}",
            f"style-src {_hash(parts.style)}",
            "img-src data:",
            f"connect-src {chr(39)}{'self' if connects else 'none'}{chr(39)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ]
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _page(data: bytes, *, connects: bool) -> bytes:
    parts = bundle()
    return _PAGE.format(
        policy=policy(parts, connects=connects),
        style=parts.style,
        script=parts.script,
        data=data.decode().replace("<", "\\u003c"),
    ).encode()


def frame(content: Content, *, height_px: int = 760) -> str:
    """The report in another page (a notebook), sandboxed so that neither can touch the other."""
    document = html.escape(report(content).decode(), quote=True)
    return (
        f'<iframe title="stepscope" sandbox="allow-scripts" srcdoc="{document}" width="100%" '
        f'height="{height_px}" style="border:1px solid #8884;border-radius:8px"></iframe>'
    )
