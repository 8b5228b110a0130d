"""A small model in the manner of Hugging Face, and data for it."""

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

BATCH = 32
torch.manual_seed(0)
torch.set_num_threads(1)


class Numbers(Dataset):
    def __init__(self, size):
        random = torch.Generator().manual_seed(1)
        self.features = torch.randn(size, 128, generator=random)
        self.labels = torch.randint(0, 10, (size,), generator=random)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"features": self.features[index], "labels": self.labels[index]}


class Classifier(PreTrainedModel):
    config_class = PretrainedConfig

    def __init__(self, config=None):
        super().__init__(config or PretrainedConfig())
        self.net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
        self.post_init()

    def forward(self, features, labels=None):
        logits = self.net(features)
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return SequenceClassifierOutput(loss=loss, logits=logits)
