"""One kind of loader, by name: what it yields must be what it yields without a recorder."""

import sys

import torch
from loading import SlowItems, Stream, train
from torch.utils.data import BatchSampler, ConcatDataset, DataLoader, IterableDataset, RandomSampler

ITEMS = SlowItems(32, item_s=0.0005)


class ListsOfItems(SlowItems):
    """Whole batches at once."""

    def __getitems__(self, indices):
        return [self[index] for index in indices]


class Rebatched(IterableDataset):
    """A loader that feeds another one."""

    def __iter__(self):
        for features, labels in DataLoader(ITEMS, batch_size=4):
            yield from zip(features, labels, strict=True)


class Pinned:
    """A batch that pins itself, as the loader asks it to."""

    def __init__(self, items):
        self.features = torch.stack([features for features, _ in items])
        self.labels = torch.tensor([label for _, label in items])

    def pin_memory(self):
        return self

    def __iter__(self):
        return iter((self.features, self.labels))


class Unhashable(DataLoader):
    def __eq__(self, other):
        return self is other

    __hash__ = None


def seed_worker(worker):
    assert torch.initial_seed() > 0


def shuffled(**options):
    generator = torch.Generator()
    generator.manual_seed(7)
    return DataLoader(ITEMS, shuffle=True, generator=generator, **options)


KINDS = {
    "plain": lambda: shuffled(batch_size=4),
    "workers": lambda: shuffled(batch_size=4, num_workers=2),
    "persistent": lambda: shuffled(batch_size=4, num_workers=2, persistent_workers=True),
    "prefetch": lambda: shuffled(batch_size=4, num_workers=1, prefetch_factor=5),
    "timeout": lambda: shuffled(batch_size=4, num_workers=1, timeout=60),
    "worker_init_fn": lambda: shuffled(batch_size=4, num_workers=2, worker_init_fn=seed_worker),
    "pin_memory": lambda: shuffled(batch_size=4, num_workers=1, pin_memory=True),
    "pinned": lambda: DataLoader(ITEMS, batch_size=4, num_workers=1, collate_fn=Pinned, pin_memory=True),
    "drop_last": lambda: shuffled(batch_size=5, num_workers=2, drop_last=True),
    "iterable": lambda: DataLoader(Stream(), batch_size=4),
    "iterable workers": lambda: DataLoader(Stream(), batch_size=4, num_workers=2),
    "iterable persistent": lambda: DataLoader(Stream(), batch_size=4, num_workers=2, persistent_workers=True),
    "batch_sampler": lambda: DataLoader(
        ITEMS, num_workers=1, batch_sampler=BatchSampler(RandomSampler(range(32), generator=torch.Generator()), 4, False)
    ),
    "getitems": lambda: DataLoader(ListsOfItems(32, item_s=0), batch_size=4, num_workers=1),
    "concat": lambda: DataLoader(ConcatDataset([ITEMS, ITEMS]), batch_size=4, num_workers=2),
    "nested": lambda: DataLoader(Rebatched(), batch_size=8),
    "unhashable": lambda: Unhashable(ITEMS, batch_size=4),
    "out of order": lambda: DataLoader(ITEMS, batch_size=32, num_workers=1, in_order=False),
}

if __name__ == "__main__":
    torch.manual_seed(3)
    train(KINDS[sys.argv[1]]())
