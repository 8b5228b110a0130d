"""How a share is written in a sentence, in every text: a whole number of per cent."""


def percent(share: float) -> str:
    """`92 %`; what rounds to zero but is not: `less than 1 %`."""
    words = f"{100 * share:.0f} %"
    return "less than 1 %" if share > 0 and words == "0 %" else words
