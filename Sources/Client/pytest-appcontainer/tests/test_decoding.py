"""Records are tolerant of what a later version adds, and of nothing else."""

from __future__ import annotations

import pytest

from pytest_appcontainer import CheckReport, DeviceError, Event, EventRange, SurveyNode
from pytest_appcontainer.decoding import decoded, decoded_list


def test_a_key_that_a_later_version_adds_is_passed_over() -> None:
    event = decoded(Event, {"time": "now", "event": "refused", "mood": "bad", "range": {"offset": 1, "length": 2}})
    assert event == Event(time="now", event="refused", range=EventRange(1, 2))


def test_a_key_that_may_be_missing_may_be_null() -> None:
    assert decoded(Event, {"time": "now", "event": "locked", "path": None}).path is None


def test_records_nest() -> None:
    leaf = {"name": "leaf", "size": 1, "files": 1, "backup": "included", "purgeable": False}
    tree = decoded(SurveyNode, {**leaf, "name": "tree", "children": [leaf]})
    assert [child.name for child in tree.children] == ["leaf"]


@pytest.mark.parametrize(
    "answer, said",
    [
        ({"files": 1, "unreadable": 0, "problems": []}, "CheckReport.repaired is missing"),
        ({"files": True, "unreadable": 0, "problems": [], "repaired": []}, "CheckReport.files is bool"),
        ({"files": None, "unreadable": 0, "problems": [], "repaired": []}, "CheckReport.files is null"),
        ({"files": 1, "unreadable": 0, "problems": [3], "repaired": []}, "CheckReport.problems is int"),
        ([], "CheckReport is list"),
    ],
)
def test_another_form_is_one_line_that_says_where(answer: object, said: str) -> None:
    with pytest.raises(DeviceError) as raised:
        decoded(CheckReport, answer)
    assert raised.value.kind == "otherVersion"
    assert f"({said}): the device is served by another version" in str(raised.value)


def test_a_list_is_a_list() -> None:
    assert decoded_list(Event, []) == ()
    with pytest.raises(DeviceError, match="not a list"):
        decoded_list(Event, {})
