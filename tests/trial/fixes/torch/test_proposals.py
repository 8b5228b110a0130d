"""What fixes propose for a recorded training, with the patch to make by hand."""

from pathlib import Path
from typing import Any

import pytest

import needs
from stepscope.advise.evidence.case import Case
from stepscope.advise.findings import findings
from stepscope.analyze.run import load, select
from stepscope.launch.options import RecordOptions
from stepscope.trial import fixes
from stepscope.trial.fixes.fix import Proposal, Refusal
from stepscope.trial.fixes.proposing import hardware
from stepscope.trial.fixes.subject import Subject
from trial.fixes.torch.trained import ENVIRONMENT, PROGRAMS
from trial.scripts import run_with


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    needs.require("torch")
    tried = run_with(
        PROGRAMS / "pictures.py",
        "long",
        fixes={},
        into=tmp_path_factory.mktemp("baseline") / "run",
        env=ENVIRONMENT,
        options=RecordOptions(),
    )
    run = load(tried.run)
    process = select(run)
    assert process is not None
    return Subject(Case(run, process), findings(run), frozenset({"torch"}), cores=2.0)


@pytest.fixture
def propose(subject: Subject) -> Any:
    return lambda name: fixes.named(name).propose(subject)


@pytest.mark.parametrize(
    ("fix", "settings", "lines"),
    [
        ("compile", {"dynamic": True}, ["+net = torch.compile(net, dynamic=True)"]),
        ("channels-last", {}, ["+net.to(memory_format=torch.channels_last)"]),
        (
            "fused-optimizer",
            {},
            ["+optimizer = torch.optim.Adam(net.parameters(), lr=1e-2, fused=True)"],
        ),
        ("zero-grad-none", {}, ["+        optimizer.zero_grad(set_to_none=True)"]),
        ("inference-mode", {}, ["+    with torch.inference_mode():"]),
        (
            "mixed-precision",
            {"dtype": "bfloat16"},
            [
                '+        with torch.autocast("cpu", dtype=torch.bfloat16):',
                "+            loss = loss_of(net(x), y)",
            ],
        ),
    ],
)
def test_a_fix_that_fits_comes_with_its_patch(
    propose: Any, monkeypatch: pytest.MonkeyPatch, fix: str, settings: Any, lines: list[str]
) -> None:
    monkeypatch.setattr(hardware, "computes_bfloat16", lambda: True)
    proposal = propose(fix)
    assert isinstance(proposal, Proposal)
    assert proposal.settings == settings
    assert proposal.patch is not None
    added = [
        line for line in proposal.patch.splitlines() if line.startswith("+") and line[1] != "+"
    ]
    assert added == lines


@pytest.mark.parametrize(
    ("fix", "reason"),
    [
        ("float32", "no heavy operator of the script computes in 64 bits"),
        ("compile-dynamic", "nothing is compiled again after the warm-up"),
        ("tf32", "TF32 needs a GPU, and this run had none"),
        ("cudnn-benchmark", "cuDNN needs a GPU, and this run had none"),
        ("pin-memory", "pinned memory is for copies to a GPU, and this run had none"),
    ],
)
def test_a_fix_that_does_not_fit_says_why(propose: Any, fix: str, reason: str) -> None:
    assert propose(fix) == Refusal(reason)


def test_without_a_compiler_of_cpp_nothing_is_compiled(
    propose: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert propose("compile") == Refusal(
        "torch.compile needs a C++ compiler, and no-such-compiler is not there (CXX names another)"
    )


def test_a_cpu_without_16_bit_units_is_not_asked_to_use_them(
    propose: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "old").write_text("flags : fpu avx2 avx512f\n")
    (tmp_path / "new").write_text("flags : fpu avx2 avx512_bf16\n")
    assert not hardware.computes_bfloat16(tmp_path / "old")
    assert hardware.computes_bfloat16(tmp_path / "new")
    monkeypatch.setattr(hardware, "computes_bfloat16", lambda: False)
    assert propose("mixed-precision") == Refusal(
        "this CPU has no 16-bit units (avx512_bf16 or amx_bf16), and the run had no GPU"
    )


def test_a_script_without_torch_is_none_of_their_business() -> None:
    ours = [name for file, name in fixes.FILES.items() if file.startswith("torch.")]
    assert ours
    assert not any(fixes.can_apply(name, {"jax", "keras"}) for name in ours)
    assert all(fixes.can_apply(name, {"jax", "torch"}) for name in ours)


def test_fixes_of_keras_are_for_both_of_its_packages() -> None:
    assert fixes.can_apply("tf-mixed-precision", {"tf_keras"})
    assert fixes.can_apply("tf-mixed-precision", {"keras"})
    assert not fixes.can_apply("tf-mixed-precision", {"tensorflow"})
