"""Everything is there, and the first step fails."""


def step(weights: list[float], batch: list[float]) -> float:
    if len(weights) != len(batch):
        raise ValueError(f"shapes ({len(weights)},) and ({len(batch)},) not aligned")
    return sum(w * x for w, x in zip(weights, batch, strict=True))


weights = [0.0, 0.0, 0.0]
for _step in range(100):
    step(weights, [1.0, 2.0, 3.0, 4.0])
