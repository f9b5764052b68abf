"""Tests of the options of a test's container."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_appcontainer import AppContainerOptions, OptionError


def test_a_later_option_wins_and_the_rest_stays() -> None:
    first = AppContainerOptions(app="Notes.app", passcode="1")
    assert first.with_changes({"passcode": None, "groups": ["group.a"]}, "x") == AppContainerOptions(
        app="Notes.app", groups=("group.a",)
    )
    assert first.with_changes({"app": Path("Other.app")}, "x").app == "Other.app"


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"apps": "x"}, "the marker has an option 'apps' that is not known; it takes app, passcode"),
        ({"passcode": 1234}, "the marker has 1234 for passcode, which takes text or None"),
        ({"groups": "group.a"}, "the marker has 'group.a' for groups, which takes a list of texts"),
        ({"groups": [1]}, "the marker has [1] for groups, which takes a list of texts"),
        ({"running": 1}, "the marker has 1 for running, which takes True or False"),
        ({"capacity": True}, "the marker has True for capacity, which takes a number or None"),
        ({"lock_grace": None}, "the marker has None for lock_grace, which takes a number"),
    ],
)
def test_an_invalid_option_is_named_with_the_valid_ones(changes: "dict[str, object]", said: str) -> None:
    with pytest.raises(OptionError) as raised:
        AppContainerOptions().with_changes(changes, "the marker")
    assert str(raised.value).startswith(said)


def test_an_app_has_to_be_named_and_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no app is named for app_container: add @pytest.mark.appcontainer"):
        AppContainerOptions().order(tmp_path)
    with pytest.raises(OptionError, match=f"there is no app at {tmp_path}/None.app; name a .app directory or an .ipa"):
        AppContainerOptions(app="None.app").order(tmp_path)


def test_a_template_is_made_with_the_cheapest_passcode(tmp_path: Path) -> None:
    options = AppContainerOptions(app=".", passcode="1", groups=("group.a",), running=True)
    order = options.order(tmp_path)
    assert order["create"] == {"passcode": "1", "lockGrace": 0, "kdfCost": 1}
    # How it is mounted is nothing to the template.
    assert options.key(tmp_path) == options.with_changes({"running": False}, "x").key(tmp_path)
    assert options.key(tmp_path) != options.with_changes({"groups": []}, "x").key(tmp_path)
