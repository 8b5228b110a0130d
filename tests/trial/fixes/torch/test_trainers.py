"""Lightning and Hugging Face's Trainer drive torch, too: fixes reach their models."""

from pathlib import Path
from typing import Any

import pytest

import needs
from trial.fixes.torch.trained import train

pytestmark = pytest.mark.nightly  # three frameworks in a dozen processes

_TOGETHER: dict[str, Any] = {
    "compile": {},
    "mixed-precision": {"dtype": "bfloat16"},
    "fused-optimizer": {},
}


@needs.package("lightning")
def test_under_lightning(tmp_path: Path) -> None:
    plain = train(tmp_path / "plain", "lightning_fit.py")
    found = train(tmp_path / "run", "lightning_fit.py", **_TOGETHER)
    said = {name: found.tried.applied(name) for name in _TOGETHER}
    assert said == {
        "compile": "compiled Model",
        "mixed-precision": "autocast around Model",
        "fused-optimizer": "Adam(fused=True)",
    }
    assert found.losses != plain.losses
    assert found.losses == pytest.approx(plain.losses, rel=2e-2)


@needs.package("lightning")
def test_lightning_in_16_bits_already(tmp_path: Path) -> None:
    fixes = {"mixed-precision": {"dtype": "bfloat16"}}
    found = train(tmp_path / "run", "lightning_fit.py", "bf16", **fixes)
    assert found.tried.refused("mixed-precision") == "the script uses autocast already"


@needs.package("transformers")
@pytest.mark.parametrize("optimizer", ["adamw_torch", "adamw_torch_fused"])
def test_under_the_trainer(tmp_path: Path, optimizer: str) -> None:
    found = train(tmp_path / "run", "trainer_fit.py", str(tmp_path), optimizer, **_TOGETHER)
    assert found.tried.applied("compile") == "compiled Model"
    assert found.tried.applied("mixed-precision") == "autocast around Model"
    if optimizer == "adamw_torch":
        assert found.tried.applied("fused-optimizer") == "AdamW(fused=True)"
    else:
        assert found.tried.refused("fused-optimizer") == "AdamW is fused already"
    assert len(found.losses) == 4
