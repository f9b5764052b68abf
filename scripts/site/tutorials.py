"""Tutorials of DocC: the overview of one, and its steps, each with the file as it then is."""

from layout import Page, escape
from prose import coloured

GROUP = "To use it"


def tutorial(content, node):
    title, parts = node["metadata"]["title"], []
    for section in node["sections"]:
        parts.append(SECTIONS[section["kind"]](content, section))
    lead = next((section["content"] for section in node["sections"] if section["kind"] == "hero"), [])
    return Page(
        address=content.address,
        title=title,
        body="".join(parts),
        above=content.above(node),
        description=" ".join(content.text(one["inlineContent"]) for one in lead if one["type"] == "paragraph"),
        group=GROUP if node["kind"] == "overview" else "",
    )


def hero(content, section):
    time = section.get("estimatedTimeInMinutes")
    about = f'<p class="role">Tutorial{f", {time} minutes" if time else ""}</p>'
    return f"{about}<h1>{escape(section['title'])}</h1>{content.blocks(section['content'])}"


def volume(content, section):
    parts = [content.blocks(section["content"])]
    for chapter in section["chapters"]:
        items = "".join(f"<dt>{content.link(one)}</dt><dd>{content.abstract(one)}</dd>" for one in chapter["tutorials"])
        anchor = escape(chapter["name"].replace(" ", "-"))
        image = f'<p>{content.image(chapter["image"])}</p>' if chapter.get("image") else ""
        parts.append(
            f'<h2 id="{anchor}">{escape(chapter["name"])}</h2>{image}{content.blocks(chapter["content"])}'
            f'<dl class="topics">{items}</dl>'
        )
    return "".join(parts)


def tasks(content, section):
    parts = []
    for task in section["tasks"]:
        parts.append(f'<h2 id="{escape(task["anchor"])}">{escape(task["title"])}</h2>')
        parts += [content.blocks(one["content"]) for one in task["contentSection"]]
        steps = "".join(f"<li>{step(content, one)}</li>" for one in task["stepsSection"] if one["type"] == "step")
        parts.append(f'<ol class="steps">{steps}</ol>')
    return "".join(parts)


def step(content, one):
    """The words of a step, and its file. The lines that it adds are marked."""
    parts = [content.blocks(one["content"]), content.blocks(one["caption"])]
    if one["code"]:
        file = content.references[one["code"]]
        code = coloured("\n".join(file["content"]), file["syntax"])
        marked = {highlight["line"] for highlight in file["highlights"]}
        if marked:
            code = with_marks(code, marked)
        parts.append(f'<p class="file"><code>{escape(file["fileName"])}</code></p>{code}')
    return "".join(parts)


def with_marks(code, marked):
    lines = code.rstrip().removesuffix("</code></pre>").split("\n")
    lines = [f'<span class="new">{line}</span>' if number in marked else line for number, line in enumerate(lines, 1)]
    return "\n".join(lines) + "</code></pre>\n"


SECTIONS = {"hero": hero, "volume": volume, "tasks": tasks}
