"""After recording has stopped nothing of torch is another than before, and loaders go on."""

import stepscope
from torch.utils.data import DataLoader, _utils, dataloader

PLACES = [
    dataloader.DataLoader, dataloader._SingleProcessDataLoaderIter, dataloader._MultiProcessingDataLoaderIter,
    dataloader._BaseDataLoaderIter, _utils.worker, _utils.pin_memory, _utils.signal_handling,
    _utils.fetch._BaseDatasetFetcher, _utils.fetch._MapDatasetFetcher, _utils.fetch._IterableDatasetFetcher,
]


def state():
    return [{name: value for name, value in vars(place).items() if callable(value)} for place in PLACES]


before = state()
with stepscope.Profiler("profiled"):
    during = state()
    left = [iter(DataLoader(range(40), batch_size=4, num_workers=workers)) for workers in (0, 1)]
    for batches in left:
        next(batches)
assert during != before
assert state() == before
for batches in left:
    print(sum(int(batch.sum()) for batch in batches))
