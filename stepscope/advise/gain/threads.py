"""What is gained when each thread has its own core."""

from stepscope.advise.gain.saving import Saving


def with_a_core(share: float, step_ns: float) -> Saving:
    """Without a core for `share` of the time, the main thread loses that much itself. The threads
    that it meets at each barrier lose as much: in the rest it waits for them, between not at
    all and the same share again; we expect the middle of the exponents. At least half of its own
    delay goes away, as other programs keep their part of it."""
    expected, most = 1 - (1 - share) ** 1.5, 1 - (1 - share) ** 2
    return Saving(expected=expected * step_ns, least=0.5 * share * step_ns, most=most * step_ns)
