"""The page's types are those of the Python records."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"


def made(source: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(source / "make_types.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_types_are_what_the_records_say() -> None:
    done = made(WEB, "--check")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("name", ["answers.ts", "content.ts", "device.ts"])
def test_types_that_were_edited_by_hand_are_found(name: str, tmp_path: Path) -> None:
    shutil.copytree(WEB / "src" / "model", tmp_path / "src" / "model")
    (tmp_path / "make_types.py").write_text((WEB / "make_types.py").read_text())
    file = tmp_path / "src" / "model" / name
    file.write_text("export interface Content {}\n")
    assert made(tmp_path, "--check").returncode == 1
    assert made(tmp_path).returncode == 0
    assert file.read_text() == (WEB / "src" / "model" / name).read_text()


def test_what_only_the_page_knows_is_no_record_again() -> None:
    records = (
        names_in("model/answers.ts") | names_in("model/content.ts") | names_in("model/device.ts")
    )
    assert {"Content", "FindingsAnswer", "RunEntry", "StepsAnswer", "Timeline"} <= records
    assert not (names_in("data.ts") | names_in("server.ts")) & records


def names_in(file: str) -> set[str]:
    text = (WEB / "src" / file).read_text()
    return set(re.findall(r"^export (?:interface|type) (\w+)", text, re.MULTILINE))
