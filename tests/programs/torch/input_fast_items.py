"""Items cost next to nothing, every step a tenth of a second."""

from loading import SlowItems, train
from torch.utils.data import DataLoader

train(DataLoader(SlowItems(120, item_s=0), batch_size=8, num_workers=1), epochs=1, compute_s=0.1)
