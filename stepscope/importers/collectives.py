"""What a trace says about the collectives that its kernels carry out."""

import msgspec


class Collective(msgspec.Struct, frozen=True):
    correlation: int  # of the kernel
    name: str  # allreduce, _allgather_base, ...
    in_elements: int
    out_elements: int
    element_type: str  # Float, BFloat16, ...
    group_size: int
    group: str  # its name, the same on all ranks
    ranks: str  # as the trace writes them: "[0, 1]"; may be shortened
