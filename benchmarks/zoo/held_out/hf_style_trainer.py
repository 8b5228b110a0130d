"""Fine-tuning-like loop with TrainingArguments, a data collator, callbacks and a Trainer class."""
import random
import sys
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from step_clock import StepClock

ZOO = {"id": None, "function": None, "framework": "torch"}


@dataclass
class TrainingArguments:
    learning_rate: float = 1e-3
    per_device_train_batch_size: int = 32
    num_train_epochs: int = 4
    warmup_steps: int = 10
    logging_steps: int = 16
    weight_decay: float = 0.01
    seed: int = 42


@dataclass
class TrainerState:
    global_step: int = 0
    log_history: list = field(default_factory=list)


class BracketDataset(Dataset):
    """Sequences of brackets; the label says whether opening ones outnumber the closing ones."""

    def __init__(self, size, seed):
        rng = random.Random(seed)
        self.items = []
        for _ in range(size):
            bias = rng.choice([0.35, 0.65])
            ids = [1] + [2 if rng.random() < bias else 3 for _ in range(rng.randrange(40, 64))]
            self.items.append({"input_ids": ids, "label": int(ids.count(2) > ids.count(3))})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class DataCollatorWithPadding:
    def __call__(self, features):
        longest = max(len(f["input_ids"]) for f in features)
        ids = torch.tensor([f["input_ids"] + [0] * (longest - len(f["input_ids"])) for f in features])
        return {"input_ids": ids, "attention_mask": ids != 0, "labels": torch.tensor([f["label"] for f in features])}


class EncoderForSequenceClassification(nn.Module):
    def __init__(self, vocab=4, hidden=128, heads=4, layers=2, positions=64):
        super().__init__()
        self.word = nn.Embedding(vocab, hidden)
        self.position = nn.Embedding(positions, hidden)
        layer = nn.TransformerEncoderLayer(hidden, heads, hidden * 4, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.classifier = nn.Linear(hidden, 2)

    def forward(self, input_ids, attention_mask, labels=None):
        x = self.word(input_ids) + self.position(torch.arange(input_ids.size(1)))
        x = self.encoder(x, src_key_padding_mask=~attention_mask)
        mask = attention_mask.unsqueeze(-1)
        logits = self.classifier((x * mask).sum(1) / mask.sum(1))
        return nn.functional.cross_entropy(logits, labels), logits


class TrainerCallback:
    def on_step_end(self, args, state): pass
    def on_log(self, args, state, logs): pass


class PrinterCallback(TrainerCallback):
    def on_log(self, args, state, logs):
        print(logs)


class ClockCallback(TrainerCallback):
    def __init__(self):
        self.clock = StepClock()

    def on_step_end(self, args, state):
        self.clock.tick()


class Trainer:
    def __init__(self, model, args, train_dataset, eval_dataset, data_collator, callbacks):
        self.model, self.args, self.callbacks = model, args, callbacks
        self.train_dataset, self.eval_dataset, self.data_collator = train_dataset, eval_dataset, data_collator
        self.state = TrainerState()
        decay = [p for p in model.parameters() if p.dim() > 1]
        plain = [p for p in model.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": args.weight_decay},
                                            {"params": plain, "weight_decay": 0.0}], lr=args.learning_rate, fused=True)
        total = args.num_train_epochs * (len(train_dataset) // args.per_device_train_batch_size)
        schedule = lambda s: min(1.0, (s + 1) / args.warmup_steps) * max(0.0, (total - s) / total)
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, schedule)

    def call_event(self, event, *extra):
        for callback in self.callbacks:
            getattr(callback, event)(self.args, self.state, *extra)

    def training_step(self, inputs):
        loss, _ = self.model(**inputs)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.lr_scheduler.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def train(self):
        loader = DataLoader(self.train_dataset, self.args.per_device_train_batch_size, shuffle=True,
                            collate_fn=self.data_collator, drop_last=True)
        running = 0.0
        for epoch in range(self.args.num_train_epochs):
            self.model.train()
            for inputs in loader:
                running += self.training_step(inputs)
                self.state.global_step += 1
                if self.state.global_step % self.args.logging_steps == 0:
                    logs = {"loss": round(running.item() / self.args.logging_steps, 4), "epoch": epoch,
                            "step": self.state.global_step}
                    self.state.log_history.append(logs)
                    self.call_event("on_log", logs)
                    running = 0.0
                self.call_event("on_step_end")
        self.call_event("on_log", self.evaluate())

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        hits = 0
        for inputs in DataLoader(self.eval_dataset, 64, collate_fn=self.data_collator):
            hits += (self.model(**inputs)[1].argmax(1) == inputs["labels"]).sum().item()
        return {"eval_accuracy": round(hits / len(self.eval_dataset), 4), "step": self.state.global_step}


if __name__ == "__main__":
    fixed = "--fixed" in sys.argv
    args = TrainingArguments()
    torch.manual_seed(args.seed)
    timer = ClockCallback()
    trainer = Trainer(EncoderForSequenceClassification(), args, BracketDataset(640, 0), BracketDataset(128, 1),
                      DataCollatorWithPadding(), [PrinterCallback(), timer])
    trainer.train()
    timer.clock.dump()
