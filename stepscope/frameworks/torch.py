"""torch, in its own words."""

from typing import Final

from stepscope.frameworks.facts import Advice, Framework, Words

_WORDS: Final = Words(
    eager=Advice(
        "torch.compile the model (or the step): it launches few large operators instead of "
        "many small ones. Where it cannot, write the loop of small operations as one on a larger "
        "tensor, use the fused version of the layer, or a larger batch.",
        "compile",
    ),
    short_kernels="A larger batch makes the same kernels work longer; if the batch size is fixed, "
    "torch.compile(mode='reduce-overhead') or CUDA graphs.",
    idle_device="Give it more at a time: a larger batch, torch.compile or CUDA graphs against "
    "launch overhead, workers and prefetching against waiting for input, and no .item() or .cpu() "
    "in the step.",
    mixed_precision=Advice(
        "Mixed precision: torch.autocast with a GradScaler (or bfloat16 without), "
        "Trainer(precision='16-mixed'); at least torch.set_float32_matmul_precision('high').",
        "mixed-precision",
    ),
    waiting_for_input=Advice(
        "Load in other processes, ahead of the step: DataLoader(…, num_workers=4, "
        "persistent_workers=True).",
        "num-workers",
    ),
    pageable_copy=Advice(
        "DataLoader(…, pin_memory=True) and .to(device, non_blocking=True).", "pin-memory"
    ),
    waiting_for_device="Keep results on the device: no .item(), .cpu(), print or if on a tensor "
    "in the step; read the loss every N steps, and copy with non_blocking=True.",
    exposed_collectives="Larger buckets, or smaller ones that start earlier (bucket_cap_mb), "
    "gradients as bucket views, 16-bit communication hooks, gradient accumulation with no_sync().",
    exposed_between_ranks="Let gradients be sent while the backward pass runs "
    "(DistributedDataParallel instead of collectives by hand), send them less often (gradient "
    "accumulation with no_sync()), in fewer and larger pieces (bucket_cap_mb), or in 16 bits (a "
    "communication hook).",
    recompilation=Advice("declare the dimension dynamic (dynamic=True)", "compile-dynamic"),
    memory_growth="Keep numbers, not tensors (loss.item(), .detach(), float())",
    float32=Advice(
        "Make data and model 32 bits: .float() or dtype=float32 where arrays come from NumPy "
        "(which makes 64 bits by default), model.float(), no set_default_dtype.",
        "float32",
    ),
    threads="torch.set_num_threads({count}), ",
)
TORCH: Final = Framework("torch", ("torch",), ("/torch/",), _WORDS)
LIGHTNING: Final = Framework(
    "lightning",
    ("lightning", "pytorch-lightning"),
    ("/lightning/", "/lightning_fabric/", "/pytorch_lightning/"),
)
TRANSFORMERS: Final = Framework(
    "transformers", ("transformers",), ("/transformers/", "/accelerate/")
)
