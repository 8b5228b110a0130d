"""Operator windows on real programs: torch's own figures, on the right lines, at a bounded cost."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import needs
from frameworks.running import PROGRAMS, plain, record, run, show
from nights import nightly_but
from stepscope.analyze.run import load

needs.module("torch")

TORCH = PROGRAMS / "torch"
KNOWN = TORCH / "known_lines.py"
LOSS = "aten::cross_entropy_loss"  # once per step


def ops_of(folder: Path, *options: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(show(folder, "ops", "--json", *options))
    return answer


def traces(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("proc-*/ops-*"))


def line_with(text: str) -> int:
    found = [number for number, line in enumerate(KNOWN.read_text().split("\n"), 1) if text in line]
    assert len(found) == 1
    return found[0]


def expected_line(name: str, shapes: list[list[int]]) -> int | None:
    """The operator's line in known_lines.py; None: not known by name and size."""
    size = next((dims[-1] for dims in shapes if dims), 0)
    if size == 300 and name.removeprefix("aten::") in ("mm", "t", "transpose", "resolve_conj"):
        return line_with("a = torch.mm(")
    by_name = {
        "aten::bmm": "torch.bmm(",
        "aten::addmm": "torch.addmm(",
        "AddmmBackward0": "torch.addmm(",
        "aten::tanh": "product.tanh()",
        "aten::tanh_backward": "product.tanh()",
        "aten::sigmoid": "a.sigmoid()",
        "aten::sigmoid_backward": "a.sigmoid()",
        "aten::square": "x.square()",
        "aten::exp": ".exp()",
        "ExpBackward0": ".exp()",
        "aten::add_": "optimizer.step()",
        "Optimizer.step#SGD.step": "optimizer.step()",
        "Optimizer.zero_grad#SGD.zero_grad": "optimizer.zero_grad()",
        "torch::autograd::AccumulateGrad": "loss.backward()",
        "Cubed": "Cubed.apply(",
        "CubedBackward": "Cubed.apply(",
    }
    by_product = {340: "torch.addmm(", 360: ".exp()", 380: "torch.mm(squared, gradient)"}
    by_sum = {300: "total = a.sum()", 320: "part.sum()", 340: "part.sum()"}
    if name == "aten::mm":
        return line_with(by_product[size])
    if name == "aten::sum":
        return line_with(by_sum.get(size, "part.sum()"))
    if name == "aten::copy_" and size == 380:  # the gradient of a sum is one number, spread out
        return line_with(by_product[size])
    if name == "aten::mul" and size == 360:  # exp's gradient
        return line_with(".exp()")
    return line_with(by_name[name]) if name in by_name else None


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(KNOWN, tmp_path_factory.mktemp("known") / "run", arguments=("12",))


def test_operators_are_on_the_line_that_called_them_or_their_forward(known: Path) -> None:
    answer = ops_of(known, "--by", "shape")
    right = wrong = placed = total = 0
    misplaced = []
    for row in answer["ops"]:
        line = expected_line(row["name"], row["input_shapes"])
        total += row["self_cpu_ns"]
        for place in row["locations"]:
            placed += place["self_cpu_ns"]
            if line is None:
                continue
            if place["line"] == line:
                right += place["self_cpu_ns"]
            else:
                wrong += place["self_cpu_ns"]
                misplaced.append((row["name"], row["input_shapes"], place))
    assert placed >= 0.999 * total
    assert right >= 0.8 * total  # most of it is checked
    assert wrong <= 0.01 * total, misplaced


def test_operators_have_their_place_in_the_model(tmp_path: Path) -> None:
    folder = record(PROGRAMS / "torch_ops" / "nested_modules.py", tmp_path / "run")
    rows = {row["name"]: row for row in ops_of(folder, "--by", "module")["ops"]}
    block = "Net › Sequential › Block"
    places = {"(outside modules)", "Net", "Net › Sequential", "Net › Linear", block}
    assert rows.keys() == {*places, f"{block} › LayerNorm", f"{block} › Linear"}
    assert rows[f"{block} › Linear"]["calls"] == 2 * rows["Net"]["calls"]
    whole = sum(row["self_cpu_ns"] for row in rows.values())
    assert rows["Net"]["total_cpu_ns"] == whole - rows["(outside modules)"]["self_cpu_ns"]
    assert whole == sum(row["self_cpu_ns"] for row in ops_of(folder)["ops"])


def test_lines_gain_the_operators_and_memory_they_called(known: Path) -> None:
    functions = json.loads(show(known, "lines", "--json"))["functions"]
    lines = {line["line"]: line for function in functions for line in function["lines"]}
    product = lines[line_with("torch.addmm(")]
    assert product["ops_ns"] > 0
    assert product["device_ns"] is None
    # Forward result and the weight's gradient, three steps of each.
    assert product["alloc_bytes"] >= 6 * 340 * 340 * 4
    assert lines[line_with("torch.set_num_threads(")]["ops_ns"] == 0


def test_memory_names_the_lines_that_keep_what_they_allocate(known: Path) -> None:
    kept = {
        row["location"]["line"]: row for row in json.loads(show(known, "memory", "--json"))["lines"]
    }
    # The gradients of the last step are still there; results of the forward are not.
    assert kept[line_with("torch.addmm(")]["kept_bytes"] >= 340 * 340 * 4
    assert kept[line_with("a = a.sigmoid()")]["kept_bytes"] == 0


def test_window_steps_and_the_one_after_are_not_measured(known: Path) -> None:
    steps = json.loads(show(known, "steps", "--each", "--json"))
    (window,) = ops_of(known)["windows"]
    assert [step["measured"] for step in steps["each"]][5:9] == [False] * 4
    assert window["steps"] == 3
    assert window["slowdown"] > 0


def test_flops_come_from_the_shapes(known: Path) -> None:
    rows = {row["name"]: row for row in ops_of(known)["ops"]}
    assert rows["aten::addmm"]["flops"] == 3 * 2 * 340**3
    assert rows["aten::bmm"]["flops"] == rows["aten::bmm"]["calls"] * 2 * 320**3


def test_a_script_that_is_one_forward_pass_is_recorded_from_there(tmp_path: Path) -> None:
    """What comes long after it on a slow machine may be in another window."""
    folder = record(TORCH / "one_forward.py", tmp_path / "run")
    assert traces(folder)[0] == "ops-1.json"
    rows = {row["name"]: row for row in ops_of(folder)["ops"]}
    assert rows["aten::linear"]["calls"] == 3
    assert rows["aten::linear"]["location"]["line"] == 7


@pytest.mark.parametrize(
    ("option", "steps"),
    [
        ("10:20", 11),
        ("off", 0),
        pytest.param("1:2", 2, marks=pytest.mark.nightly),
        pytest.param("20:400", 11, marks=pytest.mark.nightly),
    ],
)
def test_the_option_names_the_steps(tmp_path: Path, option: str, steps: int) -> None:
    """Counted by an operator that each step has once; where the window may be full it is closed and
    another one continues, and an operator in between is in neither."""
    folder = record(TORCH / "plain_loop.py", tmp_path / "run", "--ops", option)
    answer = ops_of(folder)
    rows = {row["name"]: row["calls"] for row in answer["ops"]}
    losses = rows.get(LOSS, 0)
    assert steps - len(answer["windows"]) + 1 <= losses <= steps or losses == steps == 0


@pytest.mark.parametrize("option", ["20:10", "0:3", "many", "3"])
def test_an_option_that_names_no_steps_is_refused(tmp_path: Path, option: str) -> None:
    command = (sys.executable, "-m", "stepscope", "run", "--ops", option, TORCH / "plain_loop.py")
    done = run(*command, folder=tmp_path, check=False)
    assert done.returncode == 2
    assert "10:20, all or off" in done.stderr


def losses_in(folder: Path) -> int:
    return int(next(row["calls"] for row in ops_of(folder)["ops"] if row["name"] == LOSS))


@pytest.mark.nightly
def test_a_window_ends_where_nothing_reports_the_steps(tmp_path: Path) -> None:
    """The one after warm-up is kept: some calls of the model, at least 50 ms of them."""
    folder = record(PROGRAMS / "torch_ops/updated_by_hand.py", tmp_path / "run")
    assert "ops-1.json" not in traces(folder)
    assert 5 <= losses_in(folder) < 200


def test_steps_that_end_in_backward_are_recorded_as_others(tmp_path: Path) -> None:
    folder = record(PROGRAMS / "torch_ops/updated_in_backward.py", tmp_path / "run")
    assert losses_in(folder) in (3, 6)
    assert not load(folder).notes


def test_a_window_of_very_many_operators_is_bounded(tmp_path: Path) -> None:
    """400,000 operators and far more events, all on lines of the script."""
    program = PROGRAMS / "torch_ops/many_small_operators.py"
    folder = record(program, tmp_path / "run", "--ops", "all", arguments=("100000",))
    answer = ops_of(folder)
    recorded = sum(row["calls"] for row in answer["ops"])
    assert 5_000 < recorded < 150_000
    assert any("--ops asks for more" in note for note in answer["notes"])


@pytest.mark.parametrize(
    "name",
    nightly_but(
        ["plain_loop"], ["plain_loop", "known_lines", "compiled", "gan", "lbfgs", "scaled"]
    ),
)
def test_windows_change_nothing_in_the_script(tmp_path: Path, name: str) -> None:
    """Losses to the last bit, graphs and how often they were compiled, and nothing on stderr."""
    program = TORCH / f"{name}.py"
    recorded = run(
        sys.executable,
        "-m",
        "stepscope",
        "run",
        "--quiet",
        "-o",
        tmp_path / "run",
        program,
        folder=tmp_path,
    )
    alone = run(sys.executable, program, folder=tmp_path)
    assert recorded.stdout == alone.stdout
    assert recorded.stderr == alone.stderr
    assert traces(tmp_path / "run")
    assert not [note for note in ops_of(tmp_path / "run")["notes"] if "not recorded" in note]


def test_a_block_in_a_program_can_ask_for_its_operators(tmp_path: Path) -> None:
    program = tmp_path / "block.py"
    program.write_text(
        "import stepscope, torch\n"
        "x = torch.ones(7, 7)\n"
        "torch.mm(x, x)\n"
        "with stepscope.Profiler('run', ops=True):\n"
        "    y = torch.mm(x, x) + 1\n"
        "torch.mm(x, x)\n"
        "print(y.sum().item())\n"
    )
    assert plain(program, folder=tmp_path) == "392.0\n"
    rows = {row["name"]: row["calls"] for row in ops_of(tmp_path / "run")["ops"]}
    assert rows["aten::mm"] == 1
    assert rows["aten::add"] == 1


def test_forked_workers_and_a_killed_window_leave_a_readable_run(tmp_path: Path) -> None:
    """The fork ends the window: what it has is kept."""
    program = tmp_path / "forks.py"
    program.write_text(
        "import os, torch\n"
        "model = torch.nn.Linear(8, 8)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for step in range(12):\n"
        "    optimizer.zero_grad()\n"
        "    model(torch.ones(4, 8)).sum().backward()\n"
        "    optimizer.step()\n"
        "    if step == 5:\n"
        "        child = os.fork()\n"
        "        if child == 0:\n"
        "            torch.ones(3) + 1\n"
        "            os._exit(torch.autograd._profiler_enabled())\n"
        "        print(os.waitpid(child, 0)[1])\n"
    )
    folder = tmp_path / "run"
    done = run(
        sys.executable, "-m", "stepscope", "run", "--quiet", "-o", folder, program, folder=tmp_path
    )
    assert done.stdout == "0\n"
    rows = {row["name"]: row["calls"] for row in ops_of(folder)["ops"]}
    assert rows["aten::linear"] >= 1
