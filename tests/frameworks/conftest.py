"""Trainings of Lightning's smallest model, in the process of the tests."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def train(tmp_path: Path) -> Callable[..., Any]:
    """A training of Lightning's smallest model; returns the trainer."""

    def trained(
        profiler: Any, stage: str = "fit", model: Any = None, warns: bool = False, **options: Any
    ) -> Any:
        from lightning.pytorch import Trainer
        from lightning.pytorch.demos.boring_classes import BoringModel

        quiet: dict[str, Any] = {
            "enable_progress_bar": False,
            "enable_model_summary": False,
            "logger": False,
        }
        quiet |= {"enable_checkpointing": False, "accelerator": "cpu", "max_epochs": 1}
        trainer = Trainer(default_root_dir=tmp_path, profiler=profiler, **{**quiet, **options})
        model = model or BoringModel()
        model.predict_dataloader = model.train_dataloader
        with warnings.catch_warnings():
            if not warns:
                warnings.simplefilter("ignore")
            getattr(trainer, stage)(model)
        return trainer

    return trained
