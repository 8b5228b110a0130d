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
        ("-k abc --lr 3", "-k *** --lr 3"),
        ("-p hunter2 -k abc", "-p *** -k ***"),
        ("--pass abc --auth abc --pw abc", "--pass *** --auth *** --pw ***"),
        ("--hftoken abc --wandb-key abc", "--hftoken *** --wandb-key ***"),
        ("PGPASSWORD=abc MYSQL_PWD=abc", "PGPASSWORD=*** MYSQL_PWD=***"),
        ("-u me:abc --user me:abc", "-u me:*** --user me:***"),
        ("--opts lr=3,token=abc,n=1", "--opts lr=3,token=***,n=1"),
        ("--url=https://host/x?token=abc&b=2", "--url=https://host/x?token=***&b=2"),
        ("postgres://me:a@bc@host/db", "postgres://me:***@host/db"),
        ("https://abcdefghijklmnopqrstu@host/x.git", "https://***@host/x.git"),
        ("AccountName=me;AccountKey=abc==;Suffix=x", "AccountName=me;AccountKey=***;Suffix=x"),
        ("-t 9f8a7b6c5d4e3f2a1b0c9f8a7b6c5d4e", "-t ***"),
        ("wandb login 9f8a7b6c5d4e3f2a1b0c9f8a7b6c5d4e", "wandb login ***"),
        ("AIzaSyA1bcdefghijklmnopqrstuvwxyz01234", "AIza***"),
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
        "-k 5 -p 8080 -p 0.5",
        "-p . -u me -u 1000:1000",
        "--token-file path --token-dropout 0.1 --pass-rate 0.5",
        "--primary-key id --signature serving_default",
        "-n imagenet2012resnet50v2 -t classification",
        "--revision 9f8a7b6c5d4e3f2a1b0c9f8a7b6c5d4e3f2a1b0c",
        "host:8080 c:d",
        "--no-auth train.py --skip-token-check train.py",
    ],
)
def test_everything_else_is_written_down_as_it_is(typed: str) -> None:
    assert mask_command(typed.split()) == typed.split()


def test_an_authorization_header_is_masked() -> None:
    assert mask_command(["-H", "X: Bearer abc.def"]) == ["-H", "X: Bearer ***"]
    assert mask_command(["-H", "Authorization: token abc d"]) == ["-H", "Authorization: ***"]
    assert mask_command(["-H", "X-Api-Key: abc"]) == ["-H", "X-Api-Key: ***"]


def test_secrets_inside_json_and_code_are_masked() -> None:
    config = '{"lr": 3, "api_key": "a b", "pad_token": "<pad>"}'
    assert mask_command(["--config", config]) == [
        "--config",
        '{"lr": 3, "api_key": ***, "pad_token": "<pad>"}',
    ]
    assert mask_command(["-c", "login(token='abc', n=3)"]) == ["-c", "login(token=***, n=3)"]
    assert mask_command(["--x", "{auth: abc, n: 1}"]) == ["--x", "{auth: ***, n: 1}"]
    assert mask_command(["-c", "no = 1; token = 'abc'"]) == ["-c", "no = 1; token = ***"]


def test_a_telling_option_without_a_value_masks_nothing_that_follows() -> None:
    assert mask_command(["--password", "--lr", "3"]) == ["--password", "--lr", "3"]
