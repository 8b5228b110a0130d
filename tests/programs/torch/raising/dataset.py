import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        if index == 5:
            raise KeyError("number five is missing")
        return torch.tensor(index)


for batch in DataLoader(Numbers(), batch_size=2, num_workers=int(sys.argv[1])):
    print(batch)
