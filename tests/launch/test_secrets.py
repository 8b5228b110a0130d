"""Secrets in command lines."""

import pytest

from stepscope.launch.secrets import mask_command


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("train.py --token abc --lr 3", "train.py --token *** --lr 3"),
        ("--hub-token=abc", "--hub-token=***"),
        ("--hf_token abc", "--hf_token ***"),
        ("--apiKey abc", "--apiKey ***"),
        ("--wandb-api-key abc", "--wandb-api-key ***"),
        ("--aws_secret_access_key=abc", "--aws_secret_access_key=***"),
        ("WANDB_API_KEY=abc", "WANDB_API_KEY=***"),
        ("+db.password=abc", "+db.password=***"),
        ("-password abc", "-password ***"),
        ("postgres://me:abc@host/db", "postgres://me:***@host/db"),
        ("--url=https://me:abc@host/x", "--url=https://me:***@host/x"),
        ("https://host/x?a=1&token=abc&b=2", "https://host/x?a=1&token=***&b=2"),
        ("https://host/x?X-Amz-Signature=abc", "https://host/x?X-Amz-Signature=***"),
        ("use hf_abcdefghijklmnopqrstuvwxyz", "use hf_***"),
        ("--key=sk-abcdefghijklmnopqrstuvwx", "--key=sk-***"),
    ],
)
def test_a_secret_is_masked(typed: str, written: str) -> None:
    assert mask_command(typed.split()) == written.split()


@pytest.mark.parametrize(
    "typed",
    [
        "train.py --lr 3 --epochs 4",
        "--max-tokens 512 --num_tokens=3 --tokenizer gpt2",
        "--pad-token <pad> --eos_token=</s>",
        "--key value --keyboard=x --monkey 3",
        "https://host:8080/path?page=2",
        "s3://bucket/sk-learn/model",
        "--author me --authority you",
        "a=b=c",
    ],
)
def test_everything_else_is_written_down_as_it_is(typed: str) -> None:
    assert mask_command(typed.split()) == typed.split()


def test_an_authorization_header_is_masked() -> None:
    assert mask_command(["-H", "X: Bearer abc.def"]) == ["-H", "X: Bearer ***"]


def test_a_telling_option_without_a_value_masks_nothing_that_follows() -> None:
    assert mask_command(["--password", "--lr", "3"]) == ["--password", "--lr", "3"]
