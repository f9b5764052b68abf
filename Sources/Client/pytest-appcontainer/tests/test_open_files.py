"""Tests of files that a test left open: they are found by way of /proc."""

from __future__ import annotations

import mmap
from pathlib import Path

from pytest_appcontainer.openfiles import open_below


def test_descriptors_and_mappings_are_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    outside = tmp_path / "home of others"
    outside.write_text("x")
    (home / "a b").write_text("x")
    (home / "gone").write_text("x")
    (home / "mapped").write_text("x")
    with open(outside), open(home / "a b") as first, open(home / "gone") as second:
        (home / "gone").unlink()
        with open(home / "mapped") as file:
            mapping = mmap.mmap(file.fileno(), 1, prot=mmap.PROT_READ)
        left = open_below(str(home))
        wanted = [
            f"a b (descriptor {first.fileno()})",
            f"gone (descriptor {second.fileno()})",
            "mapped (mapped)",
        ]
        mapping.close()
    # Python keeps a descriptor of what it maps.
    assert [each for each in left if not each.startswith("mapped (descriptor ")] == wanted
    assert open_below(str(home)) == []
