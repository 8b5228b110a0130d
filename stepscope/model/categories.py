"""What a step does in each category of its time, in words; and which categories are shown."""

from typing import Final

LEAST_SHARE: Final = 0.0005  # shown as 0.1 % or more; less would be a row of zeros

OUTLIERS: Final = "outliers"  # not a part of each step

# After "Most of step time goes to ".
CATEGORY_WORDS: Final = {
    "input": "waiting for input",
    "files": "reading or writing files",
    "prepare": "preparing the batch",
    "transfer": "copying to the device",
    "forward": "the forward pass",
    "backward": "the backward pass",
    "optimizer": "the optimizer",
    "communication": "communication between ranks",
    "sync": "waiting for the device",
    "compute": "the compiled training function",
    "compile": "compiling",
    "evaluation": "evaluation",
    "checkpoint": "saving checkpoints",
    "logging": "logging",
    "gc": "collecting garbage",
    "python": "your Python code and what it calls",
    "profiler": "stepscope's own recording",
    "unattributed": "something unknown",
    OUTLIERS: "slow steps, above a typical one",
}
