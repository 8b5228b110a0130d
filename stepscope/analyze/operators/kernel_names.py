"""Which kernels are matrix products or convolutions, and what they compute in, by their names.

The libraries name them after that: cuBLAS and cuDNN (`volta_sgemm`, `ampere_fp16_s16816gemm`,
`sm80_xmma_fprop_implicit_gemm_tf32f32`), CUTLASS, Tensile on AMD (`Cijk_Ailk_Bljk_SB_MT64x64`),
MIOpen, flash attention. What a name does not say is unknown.
"""

import functools
import re
from typing import Final, Literal

Precision = Literal["64 bits", "32 bits", "TF32", "16 bits", "8 bits", "unknown"]

# Functions that only prepare, move or normalise numbers, though named after such a product.
_NOT_MATRIX: Final = re.compile(
    r"batch_?norm|layer_?norm|group_?norm|rms_?norm|bn_(fw|bw)|transpose|permute"
    r"|nchwToNhwc|nhwcToNchw|convert|copy|memcpy|memset|im2col|col2im|compute\w*Offsets"
    r"|splitKreduce|reduce_(kernel|wgrad)|elementwise|softmax|dropout|rowwise|gemv|quantize"
    r"|winograd\w*(Data|Filter|Output|Delta)|generateWinograd|triton_(poi|red|per)_"
    r"|scale\w*Tensor|Shuffle|pad(ding)?_kernel|bias_(act|grad)",
    re.I,
)
_MATRIX: Final = re.compile(
    r"(?<!fb)gemm|conv(?!er)|[sh]cudnn|\d+cudnn|Cijk_|matmul|wgrad|dgrad|fprop|xmma|winograd|nvjet"
    r"|flash_?(fwd|bwd|attn|attention|fprop|bprop)|fmha|attn_(fwd|bwd)|triton_(tem|mm)_",
    re.I,
)
# The first that fits. TF32 comes before 32 bits: its kernels take and give numbers of 32 bits.
_PRECISIONS: Final[tuple[tuple[re.Pattern[str], Precision], ...]] = (
    (re.compile(r"e4m3|e5m2|fp8|(?<![a-z])[fi]8|int8|imma|nvjet_qq", re.I), "8 bits"),
    (re.compile(r"Cijk_[A-Za-z]+_[A-Za-z]+_[FB]8"), "8 bits"),
    (re.compile(r"tf32|xf32|Cijk_\w+?_S_MX_", re.I), "TF32"),
    (re.compile(r"_s1688(gemm|fprop|dgrad|wgrad)(?!.*f(p)?16)", re.I), "TF32"),
    (re.compile(r"bf16|fp16|(?<![a-z])f16|bfloat16|half|_Float16|hgemm|hcudnn|h884|s884|h1688|16816"
                r"|DF16[b_]|flash|nvjet_[ht]s", re.I), "16 bits"),
    (re.compile(r"Cijk_[A-Za-z]+_[A-Za-z]+_(H|B)[A-Z]*_"), "16 bits"),
    (re.compile(r"dgemm|zgemm|d884|double|f64|fp64", re.I), "64 bits"),
    (re.compile(r"Cijk_[A-Za-z]+_[A-Za-z]+_(D|Z)[A-Z]*_"), "64 bits"),
    (re.compile(r"sgemm|cgemm|scudnn|f32|fp32|float|simt", re.I), "32 bits"),
    (re.compile(r"Cijk_[A-Za-z]+_[A-Za-z]+_(S|C)[A-Z]*_"), "32 bits"),
)  # fmt: skip


@functools.lru_cache(maxsize=100_000)
def matrix_precision(kernel: str) -> Precision | None:
    """None: it is no matrix product and no convolution."""
    function = kernel.partition("<")[0]  # what it is made of comes behind that
    if not _MATRIX.search(kernel) or _NOT_MATRIX.search(function):
        return None
    return next((each for pattern, each in _PRECISIONS if pattern.search(kernel)), "unknown")
