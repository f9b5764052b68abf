"""The text of DocC's pages, as its archives have it, as HTML. A kind of text that is not known here is an error."""

from layout import escape, plain, relative
from prose import coloured


class Content:
    """The text of one page, with the references that it names."""

    def __init__(self, archive, node, address):
        self.archive, self.references, self.address = archive, node.get("references", {}), address

    # MARK: References

    def target(self, identifier):
        """The link to a page; None for what is on no page of the archive."""
        one = self.references.get(identifier)
        if not one or "url" not in one or one["type"] == "unresolvable":
            return None
        if one["type"] == "link":
            return one["url"]
        path = one["url"].partition("#")[0]
        if path not in self.archive.elsewhere and not (self.archive.data / (path.lstrip("/") + ".json")).exists():
            return None
        return relative(self.archive.address(one["url"]), self.address)

    def link(self, identifier, code=False, words=None):
        one = self.references.get(identifier, {})
        title = words or (
            self.inline(one["titleInlineContent"])
            if one.get("titleInlineContent")
            else escape(one.get("title", identifier.rsplit("/", 1)[-1]))
        )
        if one.get("role") == "symbol" or code and one.get("kind") == "symbol" or one.get("type") == "unresolvable":
            title = f"<code>{title}</code>"
        target = self.target(identifier)
        return f'<a href="{escape(target)}">{title}</a>' if target else title

    def abstract(self, identifier):
        return self.inline(self.references.get(identifier, {}).get("abstract", []))

    def above(self, node):
        """The pages above this one, by the first of the ways to it."""
        paths = node.get("hierarchy", {}).get("paths") or [[]]
        found = []
        for identifier in paths[0]:
            one = self.references.get(identifier)
            if one and self.target(identifier):
                found.append((self.archive.address(one["url"]), one["title"]))
        return found

    # MARK: Inline

    def text(self, nodes):
        return plain(self.inline(nodes))

    def inline(self, nodes):
        return "".join(self.one_inline(node) for node in nodes)

    def one_inline(self, node):
        kind = node["type"]
        if kind == "text":
            return escape(node["text"])
        if kind == "codeVoice":
            return f"<code>{escape(node['code'])}</code>"
        if kind in INLINE:
            return f"<{INLINE[kind]}>{self.inline(node['inlineContent'])}</{INLINE[kind]}>"
        if kind == "reference":
            words = node.get("overridingTitleInlineContent")
            return self.link(node["identifier"], words=self.inline(words) if words else None)
        if kind == "link":
            return f'<a href="{escape(node["destination"])}">{escape(node.get("title", node["destination"]))}</a>'
        if kind == "image":
            return self.image(node["identifier"])
        raise ValueError(f"{self.address}: a text of the kind {kind}")

    def image(self, identifier):
        one = self.references[identifier]
        # DocC names it with the archive's own folder.
        name = one["variants"][0]["url"].rsplit("/", 1)[1]
        return (
            f'<img src="{escape(relative("reference/images/" + name, self.address))}" '
            f'alt="{escape(one.get("alt") or "")}">'
        )

    # MARK: Blocks

    def blocks(self, nodes):
        return "".join(self.block(node) for node in nodes)

    def block(self, node):
        kind = node["type"]
        if kind == "paragraph":
            return f"<p>{self.inline(node['inlineContent'])}</p>"
        if kind == "heading":
            return f'<h{node["level"]} id="{escape(node["anchor"])}">{escape(node["text"])}</h{node["level"]}>'
        if kind == "codeListing":
            return coloured("\n".join(node["code"]), node.get("syntax") or "")
        if kind == "aside":
            # A note on errors or on a result is a part of the text, and no warning.
            name = f"<p><b>{escape(node['name'])}</b></p>"
            return f'<div class="aside {escape(node["style"])}">{name}{self.blocks(node["content"])}</div>'
        if kind in LISTS:
            items = "".join(f"<li>{self.blocks(item['content'])}</li>" for item in node["items"])
            start = f' start="{node["start"]}"' if "start" in node else ""
            return f"<{LISTS[kind]}{start}>{items}</{LISTS[kind]}>"
        if kind == "termList":
            items = "".join(
                f"<dt>{self.inline(item['term']['inlineContent'])}</dt>"
                f"<dd>{self.blocks(item['definition']['content'])}</dd>"
                for item in node["items"]
            )
            return f"<dl>{items}</dl>"
        if kind == "table":
            return self.table(node)
        raise ValueError(f"{self.address}: a block of the kind {kind}")

    def table(self, node):
        rows = [[self.blocks(cell) for cell in row] for row in node["rows"]]
        head = "".join(f"<th>{cell}</th>" for cell in rows[0])
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[1:])
        return (
            f'<div class="wide" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        )


INLINE = {"emphasis": "em", "strong": "strong", "strikethrough": "s", "newTerm": "dfn"}
LISTS = {"unorderedList": "ul", "orderedList": "ol"}
