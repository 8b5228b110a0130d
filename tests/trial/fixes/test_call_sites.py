"""Where a function is called, and what to write there to call it less often."""

from types import SimpleNamespace
from typing import Any

from stepscope.analyze.source_text import parsed
from stepscope.trial.fixes.proposing.call_sites import called_every

FUNCTION: Any = SimpleNamespace(node=SimpleNamespace(name="score"), at="score (train.py:9)")


def advice(script: str) -> str:
    text = parsed(script.splitlines())
    sources: Any = SimpleNamespace(files=["train.py"], text=lambda _: text)
    return called_every(sources, FUNCTION, 50)


def test_a_call_in_a_loop_that_counts_is_put_below_a_condition() -> None:
    assert "+    if step % 50 == 0:\n+        score(net)" in advice(
        "for step in range(100):\n    train(net)\n    score(net)\n"
    )


def test_a_call_whose_result_is_used_is_named_by_its_line() -> None:
    found = advice("for step in range(100):\n    best = max(best, score(net))\n")
    assert found == (
        "# train.py:2: call score (train.py:9) 50 times less often\nif step % 50 == 0:\n"
    )
