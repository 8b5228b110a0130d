"""Workers need a while to start, and every epoch of three batches starts them anew."""

import time

from loading import SlowItems, train
from torch.utils.data import DataLoader


def prepare(worker):
    time.sleep(0.25)


train(DataLoader(SlowItems(24, item_s=0), batch_size=8, num_workers=1, worker_init_fn=prepare), epochs=8, compute_s=0.005)
