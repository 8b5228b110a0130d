"""Loading in workers, into pinned memory, from kept samples, or for free."""

import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import needs
from stepscope.trial import fixes
from stepscope.trial.fixes.data import cache_samples
from stepscope.trial.fixes.fix import Proposal, Refusal
from trial.fixes.fake_script import FakeScript
from trial.fixes.recorded import subject_of, with_finding
from trial.scripts import Tried, run_with

torch = needs.module("torch")
import torch.utils.data as data  # noqa: E402

TRAINING = """
    import sys
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Squares(Dataset):
        def __init__(self):
            self.made = 0
        def __len__(self):
            return 24
        def __getitem__(self, index):
            self.made += 1
            return torch.full((4,), float(index)) ** 2, torch.tensor(float(index))

    torch.manual_seed(0)
    dataset = Squares()
    loader = DataLoader(dataset, 4, shuffle=True)
    validation = DataLoader(dataset, 8, shuffle=False)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-7)
    for epoch in range(3):
        for x, y in loader:
            loss = ((model(torch.dropout(x, 0.1, True)).squeeze(1) - y) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(loss.item().hex())
        with torch.no_grad():
            print(sum(model(x).sum() for x, _ in validation).item().hex())
    print("made", dataset.made)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = tmp_path_factory.mktemp("loads") / "train.py"
    script.write_text(textwrap.dedent(TRAINING))
    return script


@pytest.fixture(scope="module")
def recorded(script: Path) -> Any:
    return subject_of(script, "torch")


def try_with(script: Path, into: Path, fix: str, **settings: Any) -> Tried:
    return run_with(script, fixes={fix: settings}, into=into / "run")


def losses(tried: Tried) -> list[str]:
    return [line for line in tried.stdout.splitlines() if not line.startswith("made")]


def made(tried: Tried) -> int:
    return int(tried.stdout.split()[-1])


@pytest.mark.nightly  # processes that load torch
def test_workers_load_the_same_batches_in_the_same_order(
    script: Path, recorded: Any, tmp_path: Path
) -> None:
    subject, before = recorded
    proposal = fixes.named("num-workers").propose(subject)
    assert isinstance(proposal, Proposal)
    assert proposal.keeps is None
    after = try_with(script, tmp_path, "num-workers", workers=2)
    assert after.applied("num-workers") == "num_workers=2, persistent_workers=True"
    assert after.status == 0
    assert losses(after) == losses(before)
    assert made(after) == 0  # in this process


@pytest.mark.nightly  # processes that load torch
def test_the_number_of_workers_is_the_findings_and_the_patch_sets_it(recorded: Any) -> None:
    fix = "Load in 3 other processes: DataLoader(…, num_workers=3, persistent_workers=True)."
    subject = with_finding(recorded[0], "input-bound", "self.made += 1", fix=fix)
    proposal = fixes.named("num-workers").propose(subject)
    assert isinstance(proposal, Proposal)
    assert proposal.settings == {"workers": 3}
    # Two loaders: it is not clear which one is meant.
    assert proposal.patch == "DataLoader(…, num_workers=3, persistent_workers=True)\n"


@pytest.mark.nightly  # processes that load torch
def test_samples_are_made_once_and_the_losses_stay(
    script: Path, recorded: Any, tmp_path: Path
) -> None:
    subject, before = recorded
    proposal = fixes.named("cache-samples").propose(subject)
    assert isinstance(proposal, Proposal)
    assert proposal.patch is not None
    assert "+    @functools.cache\n     def __getitem__(self, index):" in proposal.patch
    after = try_with(script, tmp_path, "cache-samples")
    assert after.applied("cache-samples") == "samples of Squares kept"
    assert losses(after) == losses(before)
    assert (made(before), made(after)) == (144, 24 + 6)  # six reads to see that they stay the same


@pytest.mark.nightly  # processes that load torch
def test_free_input_has_as_many_batches_and_makes_hardly_any(
    script: Path, recorded: Any, tmp_path: Path
) -> None:
    subject, before = recorded
    found = with_finding(subject, "input-bound", "self.made += 1")
    proposal = fixes.named("free-input").propose(found)
    assert isinstance(proposal, Proposal)
    assert proposal.patch is None
    after = try_with(script, tmp_path, "free-input")
    assert after.applied("free-input") == "the first 4 batches, again and again"
    assert len(losses(after)) == len(losses(before))
    assert made(after) == 4 * 4 + 3 * 8 + 8  # the second epoch's first batch is the fourth one


@pytest.mark.nightly  # processes that load torch
def test_there_is_no_gpu_to_copy_from_pinned_memory(
    script: Path, recorded: Any, tmp_path: Path
) -> None:
    without = {"CUDA_VISIBLE_DEVICES": ""}
    after = run_with(script, fixes={"pin-memory": {}}, into=tmp_path / "run", env=without)
    reason = "There is no GPU here that could copy from pinned memory."
    assert (after.refused("pin-memory"), after.applied("pin-memory")) == (reason, None)
    assert losses(after) == losses(recorded[1])


# --- loaders made in this process -----------------------------------------------------------------


class Endless(data.IterableDataset[int]):
    def __iter__(self) -> Any:
        return iter(range(10))


class Shared(data.IterableDataset[int]):
    def __iter__(self) -> Any:
        info = data.get_worker_info()
        return iter(range(0 if info is None else info.id, 10, 1 if info is None else 2))


class Random(data.Dataset[Any]):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        return torch.rand(2)


class Numbered(data.Dataset[Any]):
    """Says something else each time, without a generator that anybody knows."""

    def __init__(self) -> None:
        self.number = 0

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> int:
        self.number += 1
        return self.number


@pytest.fixture
def fake() -> Any:
    script = FakeScript()
    yield script
    script.patches.undo()


def test_workers_are_refused_where_each_would_load_everything(fake: FakeScript) -> None:
    fixes.named("num-workers").install(fake, {"workers": 2})
    assert data.DataLoader(Endless()).num_workers == 0
    assert fake.said[0].startswith("refused: Endless does not share its samples among workers")
    assert data.DataLoader(Shared()).num_workers == 2


def test_workers_are_refused_for_what_cannot_be_sent_to_a_new_process(fake: FakeScript) -> None:
    class Local(data.Dataset[Any]): ...

    fixes.named("num-workers").install(fake, {"workers": 2})
    loader = data.DataLoader(Local(), 2, False, multiprocessing_context="fork", num_workers=1)
    assert loader.num_workers == 2
    fake.said.clear()
    data.DataLoader(Local(), num_workers=1, multiprocessing_context="spawn")
    assert fake.said[0].startswith("refused: Local cannot be sent to a worker process")


def test_a_loader_with_enough_workers_and_one_that_is_wrong_stay_as_they_are(
    fake: FakeScript,
) -> None:
    fixes.named("num-workers").install(fake, {"workers": 2})
    loader = data.DataLoader(Random(), num_workers=4)
    assert (loader.num_workers, loader.persistent_workers) == (4, False)
    with pytest.raises(TypeError, match="no_such"):
        data.DataLoader(Random(), no_such=1)  # type: ignore[call-arg]  # the script's own mistake
    assert fake.said == []


@pytest.mark.parametrize(
    ("dataset", "reason"),
    [(Random, "draws random numbers of torch."), (Numbered, "returns something else")],
)
def test_samples_that_differ_are_not_kept(fake: FakeScript, dataset: Any, reason: str) -> None:
    fixes.named("cache-samples").install(fake, {})
    torch.manual_seed(0)
    before = torch.get_rng_state()
    iter(data.DataLoader(dataset(), num_workers=0, generator=torch.Generator()))
    assert reason in fake.said[0]
    assert f"{dataset.__name__}.__getitem__ (test_loaders.py:" in fake.said[0]
    assert torch.equal(torch.get_rng_state(), before)


def test_samples_of_workers_that_end_with_the_epoch_are_not_kept(fake: FakeScript) -> None:
    behind = data.Subset(Random(), [0, 1])
    loader = SimpleNamespace(dataset=behind, num_workers=1, persistent_workers=False)
    cache_samples.Samples(fake).keep_from_now_on(loader)
    assert "end with every epoch" in fake.said[0]


def test_an_iterable_data_set_is_read_once_and_then_replayed(fake: FakeScript) -> None:
    fixes.named("free-input").install(fake, {})
    loader = data.DataLoader(Endless(), batch_size=2, num_workers=2)
    first, second = ([batch.tolist() for batch in loader] for _ in range(2))
    assert first == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    assert second == [*first[:4], first[0]]
    assert fake.said[0] == "applied: the first 4 batches, again and again"


# --- what a proposal reads ------------------------------------------------------------------------


@pytest.mark.nightly  # processes that load torch
def test_random_samples_are_named_by_their_line(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    text = TRAINING.replace("self.made += 1", "self.made += int(torch.randint(1, 2, ()))")
    script.write_text(textwrap.dedent(text).replace("range(3)", "range(1)"))
    subject, _ = subject_of(script, "torch")
    refusal = fixes.named("cache-samples").propose(subject)
    assert isinstance(refusal, Refusal)
    assert f"{script.name}:12" in refusal.reason
    proposal = fixes.named("num-workers").propose(subject)
    assert isinstance(proposal, Proposal)
    assert proposal.keeps == "training"


@pytest.mark.nightly  # processes that load torch
def test_samples_that_come_once_are_not_worth_a_run(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(TRAINING).replace("range(3)", "range(1)"))
    refusal = fixes.named("cache-samples").propose(subject_of(script, "torch")[0])
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("all measured steps are of one epoch")
