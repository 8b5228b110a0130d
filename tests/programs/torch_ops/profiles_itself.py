"""Profiles itself, in one of several ways, over steps in which a window would be open."""

import json
import os
import sys

import torch

sys.path.append(os.path.join(os.path.dirname(__file__), os.pardir, "torch"))
from parts import classifier, loader, seeded
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

WAY, OUT = sys.argv[1:3]


def steps(count, after_each=lambda: None):
    for (images, labels), _ in zip(batches, range(count)):
        optimizer.zero_grad()
        loss = loss_function(model(images), labels)
        loss.backward()
        optimizer.step()
        after_each()
    print(loss.item().hex())


def counted(rows):
    """What torch itself says, for the test to compare with."""
    return sorted(
        (row.key, row.count, round(row.self_cpu_time_total * 1000), round(row.cpu_time_total * 1000),
         row.self_cpu_memory_usage)
        for row in rows
    )


def whole(**options):
    with profile(activities=[ProfilerActivity.CPU], **options) as profiler:
        steps(4)
    return profiler


seeded()
model = classifier()
optimizer = torch.optim.Adam(model.parameters())
loss_function = nn.CrossEntropyLoss()
batches = iter(loader(60))
if WAY == "all":
    profiler = whole(record_shapes=True, profile_memory=True)
    profiler.export_chrome_trace(f"{OUT}/trace.json")
    with open(f"{OUT}/averages.json", "w") as file:
        json.dump({"name": counted(profiler.key_averages()),
                   "shape": counted(profiler.key_averages(group_by_input_shape=True))}, file)
elif WAY == "schedule":
    plan = schedule(wait=3, warmup=2, active=2, repeat=2)
    with profile(schedule=plan, on_trace_ready=tensorboard_trace_handler(OUT), acc_events=True) as profiler:
        steps(20, profiler.step)
elif WAY == "middle":
    steps(6)  # a window of ours is open now
    whole().export_chrome_trace(f"{OUT}/trace.json.gz")
    steps(10)
elif WAY == "autograd":
    steps(6)
    with torch.autograd.profiler.profile() as profiler:
        steps(3)
    print(sum(row.count for row in profiler.key_averages()))
    steps(30)
elif WAY == "raises":
    steps(6)
    try:
        with profile() as profiler:
            steps(1)
            raise KeyError("ours to see")
    except KeyError as error:
        print(repr(error), error.__traceback__.tb_next)
    steps(20)
elif WAY == "exits":
    steps(6)  # with a window of ours open
    sys.exit(3)
