"""Fixes that leave the losses of a training as they are, up to what they say."""

from pathlib import Path

import pytest

from stepscope.trial import fixes
from trial.fixes.torch.trained import Trained, train

_MOST = {"bits": 0.0, "rounding": 1e-4, "precision": 2e-2}  # of a loss
_STEPS = 6  # later on, differences of one bit have grown


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("plain") / "run", "pictures.py")


def assert_keeps(fix: str, found: Trained, plain: Trained) -> None:
    assert len(found.losses) == len(plain.losses)
    most = _MOST[fixes.named(fix).keeps]
    assert found.losses[:_STEPS] == pytest.approx(plain.losses[:_STEPS], rel=most, abs=0)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("fix", "settings", "applied"),
    [
        ("inference-mode", {}, "inference mode around Net"),
        ("zero-grad-none", {}, "Adam.zero_grad(set_to_none=True)"),
        ("fused-optimizer", {}, "Adam(fused=True)"),
        ("channels-last", {}, "Net with channels last"),
        ("mixed-precision", {"dtype": "bfloat16"}, "autocast around Net"),
    ],
)
def test_the_fix_takes_effect_and_keeps_what_it_says(
    tmp_path: Path, pictures: Trained, fix: str, settings: dict[str, str], applied: str
) -> None:
    found = train(tmp_path / "run", "pictures.py", **{fix: settings})
    assert found.tried.applied(fix) == applied
    assert found.tried.refused(fix) is None
    assert_keeps(fix, found, pictures)
    assert found.printed["types"] == pictures.printed["types"]  # the script sees the same ones
    assert found.printed["layout"] == str(fix == "channels-last")


@pytest.mark.nightly
def test_a_compiled_model_draws_the_same_random_numbers(tmp_path: Path, pictures: Trained) -> None:
    found = train(tmp_path / "run", "pictures.py", "eager-backend", compile={"dynamic": True})
    assert found.tried.applied("compile") == "compiled Net"
    assert found.tried.refused("compile") is None
    assert_keeps("compile", found, pictures)


@pytest.mark.nightly
def test_so_does_one_that_inductor_compiles(tmp_path: Path, pictures: Trained) -> None:
    found = train(tmp_path / "run", "pictures.py", compile={"dynamic": None})
    assert found.tried.applied("compile") == "compiled Net"
    assert_keeps("compile", found, pictures)


@pytest.mark.nightly
def test_a_model_in_doubles_computes_in_32_bits_and_the_loss_in_64(tmp_path: Path) -> None:
    plain = train(tmp_path / "plain", "doubles.py")
    found = train(tmp_path / "run", "doubles.py", float32={})
    assert found.tried.applied("float32") == "Cell in 32 bits"
    assert plain.printed["types"] == "torch.float64 torch.float64 torch.float64"
    assert found.printed["types"] == "torch.float64 torch.float32 torch.float64"
    assert found.losses != plain.losses
    assert found.losses == pytest.approx(plain.losses, rel=1e-5)


def test_fixes_on_top_of_each_other_all_take_effect(tmp_path: Path) -> None:
    settings = {
        "compile": {"dynamic": True},
        "float32": {},
        "mixed-precision": {"dtype": "bfloat16"},
        "fused-optimizer": {},
    }
    found = train(tmp_path / "run", "doubles.py", "eager-backend", **settings)
    assert {name: found.tried.applied(name) is not None for name in settings} == dict.fromkeys(
        settings, True
    )
    assert found.printed["types"] == "torch.float64 torch.float32 torch.float64"


def test_a_buffer_in_64_bits_is_enough_to_compute_in_them(tmp_path: Path) -> None:
    plain = train(tmp_path / "plain", "double_buffer.py")
    found = train(tmp_path / "run", "double_buffer.py", float32={})
    assert found.tried.applied("float32") == "Smoothed in 32 bits"
    assert_keeps("float32", found, plain)
    assert plain.printed["types"] == "torch.float64 torch.float32"
    assert found.printed["types"] == "torch.float32 torch.float32"
