"""The page writes numbers as the terminal does: its own functions, run by Node."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.show.terminal.drawing.kernels import kernel_name
from stepscope.show.terminal.drawing.numbers import count, digits, duration, percent, size

WEB = Path(__file__).parents[2] / "web"
BUNDLER = WEB / "node_modules" / ".bin" / "esbuild"
PATIENCE_S = 60.0  # only how long to wait before a hang counts as a failure
NUMBERS = [
    0, 1, 9.994, 9.996, 12.34, 99.94, 99.96, 999, 999.4, 999.6, 1_234, 12_345, 999_499, 999_600,
    61_200_000, 3_400_000_000, 99_960_000_000, 119_949_999_999, 119_950_000_000, 123_000_000_000,
    18_240_000_000_000, 4_000_000_000_000_000,
]  # fmt: skip
SMALL = [0.0001, 0.00049, 0.00051, 0.0123, 0.5, 0.97, 0.9994, 0.9996]
WRITTEN: dict[str, tuple[Callable[[Any], str], list[Any]]] = {
    "duration": (duration, [*NUMBERS, *(-each for each in NUMBERS if each)]),
    "digits": (digits, [*NUMBERS, *SMALL]),
    "percent": (percent, [0, 1, *SMALL, *(-each for each in SMALL)]),
    "size": (size, [*NUMBERS, *(-each for each in NUMBERS if each)]),
    "kernelName": (
        kernel_name,
        [
            "volta_sgemm_64x64_nt",
            "Memcpy HtoD (Pageable -> Device)",
            "void (anonymous namespace)::softmax_warp_forward<float, 10, true>(float*, int)",
            "void at::native::elementwise_kernel<4, at::native::AddFunctor<c10::BFloat16>, "
            "at::detail::Array<char*, (int)3> >(int, at::native::AddFunctor<c10::BFloat16>)",
            "std::enable_if<!(false), void>::type internal::gemvx::kernel<int>(cublasGemvParams)",
            "void f<g(a->b)::{lambda(int)#1}>(int)",
            "void ",
            "a::",
            "::b(c)",
            "é::ñ<ü::x> y::z(1)",
        ],
    ),
    "count": (count, [each for each in NUMBERS if isinstance(each, int)]),
}


@pytest.fixture(scope="module")
def on_the_page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What the page's functions make of these numbers."""
    if not BUNDLER.exists() or shutil.which("node") is None:
        pytest.skip("Node or esbuild is not here: `npm ci` in web/ installs it")
    folder = tmp_path_factory.mktemp("format")
    asked = {name: numbers for name, (_, numbers) in WRITTEN.items()}
    script = (
        f"import * as format from './format.mjs'; const asked = {json.dumps(asked)};"
        "console.log(JSON.stringify(Object.fromEntries(Object.entries(asked)"
        ".map(([name, numbers]) => [name, numbers.map((each) => format[name](each))]))))"
    )
    (folder / "ask.mjs").write_text(script)
    output = f"--outfile={folder / 'format.mjs'}"
    run(str(BUNDLER), "src/format.ts", "--bundle", "--format=esm", "--log-level=error", output)
    found: dict[str, list[str]] = json.loads(run("node", str(folder / "ask.mjs")))
    return found


def run(*command: str) -> str:
    done = subprocess.run(
        command, cwd=WEB, capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    return done.stdout


@pytest.mark.parametrize("name", WRITTEN)
def test_a_number_is_written_as_in_the_terminal(name: str, on_the_page: dict[str, Any]) -> None:
    write, numbers = WRITTEN[name]
    assert on_the_page[name] == [write(each) for each in numbers]
