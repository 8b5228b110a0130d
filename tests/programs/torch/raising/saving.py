import torch

torch.save({"weights": torch.zeros(3)}, "/nowhere/at/all/model.pt")
