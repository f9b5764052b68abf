"""The examples of the pages work as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import make_app

PACKAGE = Path(__file__).parent.parent / "README.md"
PROJECT = Path(__file__).parents[4] / "docs" / "Testing.md"


def blocks(readme: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL)


def test_the_example_with_pytest_passes(pytester: pytest.Pytester) -> None:
    make_app(pytester.path)
    pytester.makepyfile(blocks(PACKAGE)[0])
    pytester.runpytest().assert_outcomes(passed=2)


def test_the_example_of_the_project_is_the_first_test_of_it() -> None:
    first = "\n\n\n".join(blocks(PACKAGE)[0].split("\n\n\n")[:2])
    assert blocks(PROJECT)[0] == first + "\n"


def test_the_example_without_pytest_runs(notes: Path) -> None:
    exec(blocks(PACKAGE)[1].replace("/path/of/Notes.app", str(notes)), {})
