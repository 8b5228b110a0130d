"""The actions view: what is drawn, and what is left out."""

import io

from rich.console import Console

from stepscope.model import ActionRow, ActionsAnswer
from stepscope.show.terminal.actions import actions


def row(name: str, depth: int, total_ms: float, own_ms: float) -> ActionRow:
    total_ns = int(total_ms * 1e6)
    return ActionRow(
        name=name,
        depth=depth,
        calls=4,
        total_ns=total_ns,
        self_ns=int(own_ms * 1e6),
        mean_ns=total_ns // 4,
        share=total_ns / 10**9,
    )


ANSWER = ActionsAnswer(
    actions=[
        row("run_training_batch", 0, 800, 100),
        row("[LightningModule]Net.optimizer_step", 1, 700, 700),
        row(
            "[Callback]ModelCheckpoint{'monitor': None, 'mode': 'min'}.on_train_batch_end",
            0,
            90,
            90,
        ),
        row("[_TrainingEpochLoop].train_dataloader_next", 0, 50, 50),
        row("[Callback]Bar.on_train_start", 0, 0.4, 0.4),
    ],
    total_ns=10**9,
)


def drawn(answer: ActionsAnswer, top: int | None = None) -> str:
    out = io.StringIO()
    Console(file=out, width=80, color_system=None).print(actions(answer, top=top))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def test_the_tree_at_80_columns() -> None:
    assert drawn(ANSWER) == (
        "Actions  share is of 1.00 s; self is without what lies below\n"
        "  action                               calls    total     self  per call   share\n"
        "  run_training_batch                       4   800 ms   100 ms    200 ms  80.0 %\n"
        "    Net.optimizer_step                     4   700 ms   700 ms    175 ms  70.0 %\n"
        "  ModelCheckpoint.on_train_batch_end       4  90.0 ms  90.0 ms   22.5 ms   9.0 %\n"
        "  [_TrainingEpochLoop].train_dataloa…      4  50.0 ms  50.0 ms   12.5 ms   5.0 %\n"
        "  … 1 more action: --top 0 shows all\n"
    )


def test_all_are_shown_on_request() -> None:
    assert "Bar.on_train_start" in drawn(ANSWER, top=0)
    assert "on_train_batch_end" not in drawn(ANSWER, top=2)


def test_a_run_without_actions_says_who_has_them() -> None:
    assert "Lightning" in drawn(ActionsAnswer(actions=[], total_ns=1))
