"""What a container allows, and what was used of it."""

from pathlib import Path

import pytest

from stepscope.launch import containers


@pytest.mark.parametrize(
    "files",
    [
        {"cpu.max": "150000 100000", "cpu.stat": "usage_usec 7000\nuser_usec 5000\n"},
        {
            "cpu.cfs_quota_us": "150000",
            "cpu.cfs_period_us": "100000",
            "cpuacct.usage": "7000000",
        },
    ],
    ids=["version 2", "version 1"],
)
def test_the_cpu_time_is_that_of_the_group_with_the_limit(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, above = tmp_path / "above" / "ours", tmp_path / "above"
    ours.mkdir(parents=True)
    (ours / "cpu.max").write_text("max 100000")
    for name, text in files.items():
        (above / name).write_text(text)
    monkeypatch.setattr(containers, "_group_folders", lambda _: [str(ours), str(above)])
    assert containers.container_limits().cores == 1.5
    assert containers.container_cpu_used_ns() == 7_000_000


def test_without_a_limit_nobody_asks_what_was_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpu.max").write_text("max 100000")
    monkeypatch.setattr(containers, "_group_folders", lambda _: [str(tmp_path)])
    assert containers.container_cpu_used_ns() is None
