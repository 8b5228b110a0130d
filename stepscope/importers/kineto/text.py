"""The events of a JSON trace, a few megabytes at a time, as many as can be read.

1. What comes before the list of events is the head; a bare list has none.
2. A piece of text ends where one event ends and the next begins. That place is guessed from the
   characters around it: following strings and nesting takes 20 times as long as decoding.
3. Only if a piece cannot be decoded as a whole are they followed, event by event. Damaged events
   are repaired, and what cannot be repaired is dropped and counted; after a string that is never
   closed, the places are guessed again.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from stepscope.errors import NotATrace
from stepscope.importers.unzip import Content

CHUNK_BYTES: Final = 4 * 2**20
_SEPARATORS: Final = b" \r\n\t,"
_LONGEST_HEAD: Final = 64 * 2**20
_LONGEST_EVENT: Final = 64 * 2**20
_HARMLESS_EVENTS: Final = 500_000  # a few hundred megabytes when they are analysed
_LEAST_BYTES: Final = 3  # of a zipped file for an event: real ones take 15 and more
_LIST: Final = re.compile(rb'"traceEvents"\s*:\s*\[')
_BOUNDARY: Final = re.compile(rb"(?<=\})\s*,\s*(?=\{)")
_LIST_END: Final = re.compile(rb'(?<=\})\s*\](?=\s*(?:,\s*"\w+"\s*:|\}\s*$|$))')
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_PHASE: Final = re.compile(rb'"ph"')
_BASE: Final = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d{1,19})(?![\d.eE])')
_LATEST_NS: Final = 2**62  # later than any clock: damage
_MOST_JOINED: Final = 16  # pieces that one event with a list of objects may be cut into
_ESCAPE: Final = re.compile(rb"\\(u[0-9a-fA-F]{4}|.?)", re.DOTALL)
_CONTROLS: Final = bytes(32 if byte < 32 else byte for byte in range(256))

_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_T = TypeVar("_T")


class Taken(NamedTuple):
    events: int
    end: int  # in the text


class TraceText(Generic[_T]):
    """Iterate over it for lists of decoded events; `head` and `dropped` are complete at the end."""

    def __init__(
        self, path: Path, kind: type[_T], take: Callable[[bytes], Taken] = lambda text: Taken(0, 0)
    ) -> None:
        """`take` may read events at the beginning of a text itself."""
        self._path = path
        self._content = Content(path)
        self._limit: str | None = None
        self._take = take
        self._events: msgspec.json.Decoder[list[_T]] = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]  # a variable on purpose
        self._event: msgspec.json.Decoder[_T] = msgspec.json.Decoder(kind)
        self.head: dict[str, Any] = {}
        self.dropped = 0
        self.is_cut_off = False
        self._read = 0  # events
        self._is_over = False  # the list; what follows belongs to the head

    def __iter__(self) -> Iterator[list[_T]]:
        chunks = _large(iter(self._content))
        rest = self._after_head(chunks)
        for chunk in chunks:
            rest += chunk
            self._limit = self._why_to_stop(rest)
            if self._limit is not None:
                break
            if self._is_over:
                continue
            end = _last_boundary(rest)
            if end:
                events, used = self._decoded(rest[:end], is_last=False)
                rest = rest[used:]
                if events:
                    yield events
        if not self._is_over and self._limit is None:
            events, used = self._decoded(rest, is_last=True)
            rest = rest[used:]
            yield events
        self._end(rest)

    def _why_to_stop(self, rest: bytes) -> str | None:
        """Nothing that we could use is that long; what goes on for ever fills the memory."""
        name = self._path.name
        if len(rest) > _LONGEST_EVENT + CHUNK_BYTES:
            without = f"{_LONGEST_EVENT // 2**20} MiB without an event"
            return f"{name} has more than {without}: what comes after that is left out."
        if self._read > max(_HARMLESS_EVENTS, self._content.size_bytes / _LEAST_BYTES):
            unpacked = (
                f"{self._content.size_bytes / 2**20:,.1f} MiB hold more than {self._read:,} events"
            )
            return f"{name} was made to fill the memory: its {unpacked}. Later ones are left out."
        return None

    @property
    def limit(self) -> str | None:
        """What was left out because it would not end."""
        return self._limit or self._content.limit

    # --- before and after the list -------------------------------------------------------------

    def _after_head(self, chunks: Iterator[bytes]) -> bytes:
        """What has been read of the list's content."""
        text = b""
        for chunk in chunks:
            text += chunk
            if text.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"["):
                return self._required(text.partition(b"[")[2])
            found = _LIST.search(text)
            if found is not None:
                self._read_head(text[: found.start()] + b'"": 0}')
                return self._required(text[found.end() :])
            if len(text) > _LONGEST_HEAD:
                break
        looked = f" in its first {_LONGEST_HEAD // 2**20} MiB" if len(text) > _LONGEST_HEAD else ""
        raise self._refusal(f"it has no list of events{looked}")

    def _required(self, content: bytes) -> bytes:
        """The list's content: empty, objects, or damaged; a list of numbers is another file."""
        first = content.lstrip(_SEPARATORS)[:1]
        if first in (b"", b"{", b"]") or _PHASE.search(content):
            return content
        raise self._refusal("what it lists are no events")

    def _refusal(self, why: str) -> NotATrace:
        return NotATrace(
            f"'{self._path}' is not a trace: {why}. Give a file that torch.profiler's "
            "export_chrome_trace wrote."
        )

    def _end(self, rest: bytes) -> None:
        self.is_cut_off = self._content.is_cut_off or not self._is_over
        if self._is_over:
            self._read_head(b"{" + rest.strip(_SEPARATORS))

    def _read_head(self, text: bytes) -> None:
        try:
            fields = msgspec.json.decode(text)
        except _UNREADABLE:
            base = _BASE.search(text)
            fields = {"baseTimeNanoseconds": int(base[1])} if base else {}
        if isinstance(fields, dict):
            fields.pop("", None)
            self.head.update(fields)

    # --- decoding ------------------------------------------------------------------------------

    def _decoded(self, text: bytes, *, is_last: bool) -> tuple[list[_T], int]:
        """The events in the text after those that `take` has read, and how much text is done."""
        taken = self._take(text)
        left = text[taken.end :]
        try:
            events = self._events.decode(b"[" + left.strip(_SEPARATORS) + b"]")
            used = len(left)
        except _UNREADABLE:
            events, used = self._scanned(left, is_last=is_last)
        self._read += taken.events + len(events)
        return events, taken.end + used

    def _scanned(self, text: bytes, *, is_last: bool) -> tuple[list[_T], int]:
        """By following strings and nesting, until something is damaged."""
        events: list[_T] = []
        used = 0
        for start, end in _objects(text):
            if start == end:  # the list's end
                self._is_over = True
                return events, end
            event = self._try(text[start:end])
            if event is None:
                event = self._try(_mended(text[start:end]))
            if event is None or _PHASE.search(text, start, end) is None:
                guessed, more = self._guessed(text[used:], is_last=is_last)
                return events + guessed, used + more
            events.append(event)
            used = end
        if is_last and b'"ph"' in text[used:]:
            guessed, more = self._guessed(text[used:], is_last=True)
            return events + guessed, used + more
        return events, used

    def _guessed(self, text: bytes, *, is_last: bool) -> tuple[list[_T], int]:
        """After damage, where strings may never be closed."""
        end = _LIST_END.search(text) if is_last else None
        whole = text if end is None else text[: end.start()]
        pieces = list(_pieces(whole))
        events: list[_T] = []
        at = 0
        while at < len(pieces):
            event, joined = self._put_together(whole, pieces, at)
            if event is None and at + joined >= len(pieces) and end is None:
                return events, pieces[at][0]  # it may continue in the next text
            if event is not None:
                events.append(event)
            else:
                self.dropped += 1
            at += joined
        self._is_over = end is not None
        return events, end.end() if end is not None else len(text)

    def _put_together(
        self, text: bytes, pieces: list[tuple[int, int]], at: int
    ) -> tuple[_T | None, int]:
        """One event, and how many pieces it has. The search ends at the next piece that is an event
        itself."""
        for joined in range(1, min(_MOST_JOINED, len(pieces) - at) + 1):
            piece = text[pieces[at][0] : pieces[at + joined - 1][1]]
            event = self._try(piece)
            if event is not None:
                return event, joined
            following = pieces[at + joined] if at + joined < len(pieces) else None
            if following is None or _PHASE.search(text, *following):
                return self._try(_mended(piece)), joined
        return None, min(_MOST_JOINED, len(pieces) - at)

    def _try(self, text: bytes) -> _T | None:
        try:
            return self._event.decode(text)
        except _UNREADABLE:
            return None


def _objects(text: bytes) -> Iterator[tuple[int, int]]:
    """(start, end) of each object in a list's content; the list's end as an empty object."""
    depth = start = 0
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in b"{[":
            if depth == 0:
                start = found.start()
            depth += 1
        elif token in b"}]":
            depth -= 1
            if depth < 0:
                yield found.end(), found.end()
                return
            if depth == 0:
                yield start, found.end()


def _pieces(text: bytes) -> Iterator[tuple[int, int]]:
    """(start, end) between places that look like the boundary of two events."""
    start = len(text) - len(text.lstrip(_SEPARATORS))
    for found in _BOUNDARY.finditer(text):
        yield start, found.start()
        start = found.end()
    if text[start:].strip():
        yield start, len(text)


def _last_boundary(text: bytes) -> int:
    """The end of the last event that is followed by another; 0: none."""
    at = len(text)
    while (at := text.rfind(b"{", 0, at)) > 0:
        before = text[max(0, at - 256) : at].rstrip()
        if before.endswith(b",") and before[:-1].rstrip().endswith(b"}"):
            return at - (len(text[max(0, at - 256) : at]) - len(before[:-1].rstrip()))
    return 0


def _mended(text: bytes) -> bytes:
    """Raw control characters become blanks, backslashes that escape nothing are doubled."""
    plain = text.translate(_CONTROLS).decode("utf-8", "replace").encode()
    return _ESCAPE.sub(_escape, plain)


def _escape(found: re.Match[bytes]) -> bytes:
    is_escape = found[1][:1] in (b'"', b"\\", b"/", b"b", b"f", b"n", b"r", b"t")
    return found[0] if is_escape or len(found[1]) == 5 else b"\\" + found[0]


def _large(parts: Iterator[bytes]) -> Iterator[bytes]:
    collected: list[bytes] = []
    size = 0
    for part in parts:
        collected.append(part)
        size += len(part)
        if size >= CHUNK_BYTES:
            yield b"".join(collected)
            collected, size = [], 0
    if collected:
        yield b"".join(collected)


def base_ns(head: dict[str, Any]) -> int:
    """What the times of the events count from, in ns; 0 if the file does not say, or is damaged."""
    base = head.get("baseTimeNanoseconds", 0)
    is_time = isinstance(base, int | float) and 0 <= base < _LATEST_NS
    return int(base) if is_time else 0
