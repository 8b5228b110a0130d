"""Secrets in a command line, masked before it is written down.

Better to mask a harmless value than to miss a secret: the command line is kept to be recognised,
and nothing is started from it again.
"""

import itertools
import os
from collections.abc import Sequence

from stepscope.typed import Final

MASK: Final = "***"

_WORDS: Final = frozenset(
    "token password passwd passphrase passcode pwd pw secret secrets credential credentials apikey "
    "authorization bearer cookie jwt".split()
)
_LAST_WORDS: Final = frozenset("pass auth pat".split())  # --pass, and not --pass-rate
_ENDINGS: Final = ("token", "password", "passwd", "secret", "apikey")  # --hftoken, PGPASSWORD
_WORD_BEFORE_KEY: Final = frozenset(
    "api access secret private auth account encryption signing shared session service master admin "
    "license wandb openai anthropic hf huggingface comet neptune mlflow clearml aws azure gcp "
    "github gitlab".split()
)
# A tokenizer's words, as in --pad-token: not secrets.
_SPECIAL_TOKENS: Final = frozenset(
    "pad eos bos unk sep cls mask image audio special start end stop max min num per new".split()
)
# What is known of a secret, as in --token-file and --token-length: not the secret itself.
_ABOUT_IT: Final = frozenset(
    "file path dir folder length len size count type types dim dropout limit ids level budget "
    "embedding embeddings".split()
)
_WITHOUT: Final = frozenset("no skip disable without".split())  # --no-auth: what follows is free
_SHORT_OPTIONS: Final = frozenset({"-k", "-p"})  # a key, a password
_USER_OPTIONS: Final = frozenset({"-u", "--user", "--login", "--username"})  # me:password
_LONGEST_NUMBER: Final = 6  # digits: a port or a size, and not a key
# How the keys of well-known services begin.
_PREFIXES: Final = (
    "hf_", "sk-", "sk_live_", "rk_live_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_",
    "glpat-", "xoxb-", "xoxp-", "xoxa-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "eyJ", "pypi-",
    "npm_", "dckr_pat_", "key-", "gsk_", "nvapi-", "dapi", "r8_", "xai-", "SG.",
)  # fmt: skip
_SHORTEST_KEY: Final = 20
_CHANGES: Final = 0.3  # between digits, small letters and capitals: 0.47 of hex, 0.62 of base 62


def mask_command(command: Sequence[str]) -> list[str]:
    """Steps: mask the value after an option with a secret's name, in NAME=VALUE and NAME: VALUE, in
    URLs and headers, and anything that looks like a well-known service's key."""
    masked: list[str] = []
    before = ""
    for argument in command:
        masked.append(_mask_value(before, argument) or _mask_argument(argument))
        before = "" if masked[-1] == MASK else argument
    return masked


def names_a_secret(name: str) -> bool:
    """True for --hub-token, db.password and WANDB_API_KEY; not for --max-tokens and --pad-token."""
    words = _words(name)
    return _has_secret(words) and words[0] not in _WITHOUT


def _has_secret(words: list[str]) -> bool:
    return any(
        _is_secret(before, word, after)
        for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False)
    )


def mask_text(text: str) -> str:
    """In a text of any kind: a URL, a header, JSON, an expression."""
    if "://" in text:
        text = _mask_url(text)
    before_signs = text.replace(":", "=").split("=")[:-1]
    if any(_has_secret(_words(each)) for each in before_signs):
        text = _mask_pairs(text)
    if "Bearer " in text or "Basic " in text:
        text = _mask_header(text)
    if any(prefix in text for prefix in _PREFIXES):
        text = _mask_keys(text)
    return text


# --- options --------------------------------------------------------------------------------------


def _mask_value(option: str, value: str) -> str | None:
    """The value of the option before it, if that is a secret."""
    if not option.startswith("-") and option != "login":
        return None
    if option in _USER_OPTIONS:
        name, colon, password = value.partition(":")
        is_secret = bool(colon) and not password.isdecimal() and not password.startswith("//")
        return f"{name}:{MASK}" if is_secret and password else None
    if "=" not in option and option != "login" and names_a_secret(option):
        return None if value.startswith("--") else MASK
    if option in _SHORT_OPTIONS:
        return None if _is_harmless(value) else MASK
    is_short = len(option) == 2 or option == "login"
    return MASK if is_short and _looks_random(value) else None


def _mask_argument(argument: str) -> str:
    name, equals, value = argument.partition("=")
    is_name = all(each.isalnum() or each in "-_.+@/" for each in name)
    if equals and value and is_name and names_a_secret(name):
        return f"{name}={MASK}"
    return mask_text(argument)


def _is_harmless(value: str) -> bool:
    """Another option, a short number, or a file."""
    digits = value.replace(".", "", 1)
    is_number = digits.isdecimal() and len(digits) <= _LONGEST_NUMBER
    return is_number or value.startswith("-") or os.path.exists(value)


def _looks_random(value: str) -> bool:
    """A long word of digits and letters in no order: nobody types a name like that."""
    if len(value) < _SHORTEST_KEY or not value.isascii() or not value.isalnum():
        return False
    kinds = [(each.isdigit(), each.isupper()) for each in value]
    changes = sum(one != other for one, other in itertools.pairwise(kinds))
    return changes > _CHANGES * len(value)


# --- names ----------------------------------------------------------------------------------------


def _is_secret(before: str, word: str, after: str) -> bool:
    if after in _ABOUT_IT:
        return False
    if word == "key":
        return before in _WORD_BEFORE_KEY
    if word == "signature":
        return before == "access"
    if word in _LAST_WORDS:
        return not after
    if word in _WORDS:
        return not (word == "token" and before in _SPECIAL_TOKENS)
    ends = [end for end in _ENDINGS if word.endswith(end)]
    return any(word.removesuffix(end) not in _SPECIAL_TOKENS for end in ends)


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


# --- text -----------------------------------------------------------------------------------------


def _mask_url(text: str) -> str:
    """scheme://user:password@host?token=value"""
    import re  # some 5 ms: only command lines that need it pay

    text = re.sub(r"(\w://[^/\s:@]*):[^/\s]+@", rf"\1:{MASK}@", text)
    text = re.sub(rf"(\w://)[^/\s:@]{{{_SHORTEST_KEY},}}@", rf"\1{MASK}@", text)
    return re.sub(
        r"([?&;])([^=&;?\s]+)=([^&;\s]+)",
        lambda m: f"{m[1]}{m[2]}={MASK}" if _is_secret_parameter(m[2]) else m[0],
        text,
    )


def _is_secret_parameter(name: str) -> bool:
    return names_a_secret(name) or name.lower() in ("sig", "signature", "key", "x-amz-signature")


def _mask_pairs(text: str) -> str:
    """token='abc', "api_key": "abc", password=abc; of a header, all that follows."""
    import re

    text = re.sub(
        r"(?im)^(\s*[\w-]*(?:authorization|cookie)\s*:\s*)(?!(?:bearer|basic)\b)\S.*",
        rf"\1{MASK}",
        text,
    )
    return re.sub(
        r"""([A-Za-z_][\w.\-]*)(["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s"',;&{}()\[\]]+)""",
        lambda m: f"{m[1]}{m[2]}{MASK}" if _is_masked(m[1], m[3]) else m[0],
        text,
    )


def _is_masked(name: str, value: str) -> bool:
    return names_a_secret(name) and value not in ("Bearer", "Basic") and not value.startswith("//")


def _mask_header(text: str) -> str:
    import re

    return re.sub(r"\b(Bearer|Basic) +\S+", rf"\1 {MASK}", text)


def _mask_keys(text: str) -> str:
    import re

    starts = "|".join(re.escape(prefix) for prefix in _PREFIXES)
    key = rf"(?<![A-Za-z0-9_-])({starts})[A-Za-z0-9_.-]{{{_SHORTEST_KEY - 4},}}"
    return re.sub(key, rf"\1{MASK}", text)
