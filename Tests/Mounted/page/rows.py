#!/usr/bin/python3
"""The row that a reader means on a device's page, while others come and go.

    rows.py NAME[,NAME…] DEVICE APP HOME"""

from handled import Handled, try_named, written


def a_row_that_is_shown_is_the_one_that_is_meant(device, app, home):
    for name in ("inner/a", "inner/b", "later 1", "later 2", "later 3"):
        written(f"{home}/Documents/outer/{name}")
    active = "page.tree.view.rowAt(page.tree.view.active)?.path"
    with Handled(device) as page:
        # The directory above it opens, so another row is still drawn at its place.
        page.wait("page.tree.reveal('Documents/outer/later 1')")
        page.value("page.tree.reveal('Documents/outer/inner/b')")
        page.wait(f"{active} === 'Documents/outer/inner/b'")
        # Rows above it come between the answer that tells its place and the drawing of it.
        page.value("page.tree.expand('Documents/outer/inner', false)")
        page.value("""{
            const ask = page.files.ask;
            page.files.ask = async function (question, about) {
                const found = await ask.call(this, question, about);
                if (question !== "reveal") return found;
                page.files.ask = ask;
                await ask.call(this, "toggle", { path: "Documents/outer/inner", isExpanded: true });
                return found;
            };
        }""")
        page.value("page.tree.reveal('Documents/outer/later 2')")
        page.wait(f"{active} === 'Documents/outer/later 2'")
        page.value("byID('tree').focus()")
        page.key("Enter")
        page.wait("page.chosenPath === 'Documents/outer/later 2'")


def the_row_that_is_meant_stays_so(device, app, home):
    for name in "cde":
        written(f"{home}/Documents/{name}")
    with Handled(device) as page:
        page.value("page.tree.reveal('Documents/d')")
        page.wait("page.tree.view.rowAt(page.tree.view.active)?.path === 'Documents/d'")
        place = page.value("page.tree.view.active")
        for name in "ab":
            written(f"{home}/Documents/{name}")
        page.wait(f"page.tree.view.active === {place + 2}")
        page.value("byID('tree').focus()")
        page.key("Enter")
        page.wait("page.chosenPath === 'Documents/d'")
        # One that was scrolled away is meant all the same.
        for number in range(200):
            written(f"{home}/Documents/later {number}")
        page.wait("page.tree.view.count > 200")
        page.value("byID('tree').scrollTop = 1e6")
        page.wait("page.tree.view.rowAt(page.tree.view.active) === undefined")
        page.key("Enter")
        page.wait("page.tree.view.rowAt(page.tree.view.active)?.path === 'Documents/d'")


if __name__ == "__main__":
    try_named(globals())
