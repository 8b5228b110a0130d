"""Secrets in a command line, masked before it is written down."""

from collections.abc import Sequence
from typing import Final

MASK: Final = "***"

_WORDS: Final = frozenset(
    "token password passwd passphrase pwd secret secrets credential credentials apikey "
    "authorization bearer".split()
)
_WORD_BEFORE_KEY: Final = frozenset("api access secret private auth account encryption".split())
# A tokenizer's words, as in --pad-token: not secrets.
_SPECIAL_TOKENS: Final = frozenset(
    "pad eos bos unk sep cls mask image audio special start end stop max min num per new".split()
)
# How the keys of well-known services begin.
_PREFIXES: Final = (
    "hf_", "sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "eyJ",
    "pypi-", "npm_", "dckr_pat_", "key-",
)  # fmt: skip
_SHORTEST_KEY: Final = 20


def mask_command(command: Sequence[str]) -> list[str]:
    """Steps: mask the value after an option with a secret's name, inside NAME=VALUE, in URLs, and
    anything that looks like a well-known service's key."""
    masked: list[str] = []
    value_is_secret = False
    for argument in command:
        if value_is_secret and not argument.startswith("--"):
            masked.append(MASK)
            value_is_secret = False
            continue
        name, equals, value = argument.partition("=")
        if equals and names_a_secret(name):
            masked.append(f"{name}={MASK}" if value else argument)
            continue
        value_is_secret = argument.startswith("-") and not equals and names_a_secret(argument)
        masked.append(_mask_text(argument))
    return masked


def names_a_secret(name: str) -> bool:
    """True for --hub-token, db.password and WANDB_API_KEY; not for --max-tokens and --pad-token."""
    words = _words(name)
    for before, word in zip(["", *words], words, strict=False):
        if word == "key" and before in _WORD_BEFORE_KEY:
            return True
        if word in _WORDS and not (word == "token" and before in _SPECIAL_TOKENS):
            return True
    return False


def _words(name: str) -> list[str]:
    """Split at signs and at capitals: apiKey is api, key."""
    parts: list[str] = []
    previous = ""
    for character in name:
        if not character.isalnum():
            parts.append("")
        elif not parts or (character.isupper() and previous.islower()):
            parts.append(character)
        else:
            parts[-1] += character
        previous = character
    return [part.lower() for part in parts if part]


def _mask_text(text: str) -> str:
    if "://" in text:
        text = _mask_url(text)
    if "Bearer " in text or "Basic " in text:
        text = _mask_header(text)
    if any(prefix in text for prefix in _PREFIXES):
        text = _mask_keys(text)
    return text


def _mask_url(text: str) -> str:
    """scheme://user:password@host?token=value"""
    import re  # some 5 ms: only command lines that need it pay

    text = re.sub(r"(\w://[^/\s:@]*):[^/\s@]+@", rf"\1:{MASK}@", text)
    return re.sub(
        r"([?&;])([^=&;?\s]+)=([^&;\s]+)",
        lambda m: f"{m[1]}{m[2]}={MASK}" if _is_secret_parameter(m[2]) else m[0],
        text,
    )


def _is_secret_parameter(name: str) -> bool:
    return names_a_secret(name) or name.lower() in ("sig", "signature", "key", "x-amz-signature")


def _mask_header(text: str) -> str:
    import re

    return re.sub(r"\b(Bearer|Basic) +\S+", rf"\1 {MASK}", text)


def _mask_keys(text: str) -> str:
    import re

    starts = "|".join(re.escape(prefix) for prefix in _PREFIXES)
    key = rf"(?<![A-Za-z0-9_-])({starts})[A-Za-z0-9_.-]{{{_SHORTEST_KEY - 4},}}"
    return re.sub(key, rf"\1{MASK}", text)
