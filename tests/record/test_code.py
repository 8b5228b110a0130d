"""Which code counts as the user's."""

import json
import os
import site
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import stepscope
from stepscope.record.code.user_code import UserCode


def write(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("pass\n")
    return str(path)


def test_a_script_is_the_users(tmp_path: Path) -> None:
    assert UserCode().is_users(write(tmp_path / "train.py"))


def test_the_standard_library_is_not() -> None:
    assert not UserCode().is_users(json.__file__)
    assert not UserCode().is_users(os.path.join(sysconfig.get_path("stdlib"), "os.py"))


def test_installed_packages_are_not() -> None:
    assert not UserCode().is_users(pytest.__file__)


@pytest.mark.parametrize("kind", ["site-packages", "dist-packages"])
def test_packages_of_any_other_environment_are_not(kind: str, tmp_path: Path) -> None:
    assert not UserCode().is_users(write(tmp_path / "lib" / kind / "pkg" / "mod.py"))


def test_the_users_site_folder_is_installed_too() -> None:
    assert "site-packages" in site.getusersitepackages()


def test_stepscope_itself_is_never_the_users_even_when_included() -> None:
    users = UserCode(include=["*"], packages=[os.path.dirname(stepscope.__file__)])
    assert not users.is_users(os.path.join(os.path.dirname(stepscope.__file__), "errors.py"))


def test_files_of_the_run_folder_are_not(tmp_path: Path) -> None:
    path = write(tmp_path / "run" / "sources" / "x.py")
    assert not UserCode(run_folder=str(tmp_path / "run")).is_users(path)


@pytest.mark.parametrize(
    "filename", ["<string>", "<frozen importlib._bootstrap>", "<__array_function__ internals>", ""]
)
def test_code_without_a_file_is_not(filename: str) -> None:
    assert not UserCode().is_users(filename)


def test_what_autograph_writes_is_not(tmp_path: Path) -> None:
    assert not UserCode().is_users(write(tmp_path / "__autograph_generated_filex1y2.py"))


def test_a_file_that_is_not_there_is_not(tmp_path: Path) -> None:
    assert not UserCode().is_users(str(tmp_path / "generated.py"))


@pytest.mark.parametrize(
    "filename", ["<ipython-input-3-0fd3e2c1>", "/tmp/ipykernel_4711/1234567.py"]
)
def test_notebook_cells_are_the_users(filename: str) -> None:
    assert UserCode().is_users(filename)
    assert not UserCode(exclude=["*"]).is_users(filename)


def test_a_relative_name_counts_from_where_the_run_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "train.py")
    monkeypatch.chdir(tmp_path)
    users = UserCode()
    monkeypatch.chdir("/")
    assert users.is_users("train.py")
    assert users.is_users("./train.py")


def test_a_module_in_an_archive_of_the_users_is_the_users(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "app.pyz", "w") as archive:
        archive.writestr("pkg/train.py", "pass")
    assert UserCode().is_users(str(tmp_path / "app.pyz" / "pkg" / "train.py"))


def test_a_module_in_an_installed_archive_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    with zipfile.ZipFile(folder / "lib.egg", "w") as archive:
        archive.writestr("lib/x.py", "pass")
    assert not UserCode().is_users(str(folder / "lib.egg" / "lib" / "x.py"))


def test_a_package_linked_into_site_packages_is_an_editable_install(tmp_path: Path) -> None:
    write(tmp_path / "project" / "pkg" / "mod.py")
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "pkg").symlink_to(tmp_path / "project" / "pkg")
    assert UserCode().is_users(str(installed / "pkg" / "mod.py"))


def test_files_linked_into_site_packages_are_only_a_saving_of_space(tmp_path: Path) -> None:
    cached = write(tmp_path / "cache" / "mod.py")
    installed = tmp_path / "site-packages" / "pkg"
    installed.mkdir(parents=True)
    (installed / "mod.py").symlink_to(cached)
    assert not UserCode().is_users(str(installed / "mod.py"))


def test_a_linked_standard_library_is_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "lib").symlink_to(sysconfig.get_path("stdlib"))
    assert not UserCode().is_users(str(tmp_path / "lib" / "json" / "decoder.py"))


@pytest.mark.parametrize(
    "pattern", ["pkg", "pkg.sub", "pkg.*", "p*", "mod.py", "*/pkg/sub/*", "pkg.sub.mod"]
)
def test_an_installed_module_can_be_included(pattern: str, tmp_path: Path) -> None:
    path = write(tmp_path / "site-packages" / "pkg" / "sub" / "mod.py")
    assert UserCode(include=[pattern]).is_users(path)


@pytest.mark.parametrize("pattern", ["sub", "pk", "pkg.su", "pkg.sub.mod.x", "od.py"])
def test_an_include_names_whole_words(pattern: str, tmp_path: Path) -> None:
    path = write(tmp_path / "site-packages" / "pkg" / "sub" / "mod.py")
    assert not UserCode(include=[pattern]).is_users(path)


def test_a_module_name_is_found_through_the_import_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "src" / "models" / "unet.py")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "src"), *sys.path])
    assert UserCode().is_users(path)
    assert not UserCode(exclude=["models.unet"]).is_users(path)
    assert not UserCode(exclude=["models"]).is_users(path)


def test_a_pattern_may_start_where_the_run_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "src" / "x.py")
    monkeypatch.chdir(tmp_path)
    assert not UserCode(exclude=["src/*"]).is_users(path)


def test_exclude_wins_over_include(tmp_path: Path) -> None:
    path = write(tmp_path / "site-packages" / "pkg" / "mod.py")
    assert not UserCode(include=["pkg"], exclude=["mod.py"]).is_users(path)


def test_the_package_of_a_console_command_is_the_users(tmp_path: Path) -> None:
    path = write(tmp_path / "site-packages" / "pkg" / "mod.py")
    lone = write(tmp_path / "site-packages" / "lone.py")
    users = UserCode(packages=[str(tmp_path / "site-packages" / "pkg"), lone])
    assert users.is_users(path)
    assert users.is_users(lone)
    assert not users.is_users(write(tmp_path / "site-packages" / "pkgs" / "mod.py"))


def test_an_answer_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "train.py")
    users = UserCode()
    assert users.is_users(path)
    os.unlink(path)
    assert users.is_users(path)
