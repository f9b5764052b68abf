"""Markdown as HTML: CommonMark with tables, headings that can be linked to, code in colours, and links that lead to pages
of the site."""

import re

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from layout import escape, plain

# The clauses of the semantics, so that each can be linked to.
CLAUSE = re.compile(r"S-[A-Z]+-\d+[a-z]?")
# Names that DocC has for languages.
LANGUAGES = {"plist": "xml"}


def slug(text, taken):
    """The anchor that GitHub gives a heading; `taken` counts those of the page."""
    anchor = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
    count = taken.get(anchor, 0)
    taken[anchor] = count + 1
    return f"{anchor}-{count}" if count else anchor


def coloured(code, language):
    """Code in a frame that scrolls in itself."""
    language = language.split()[0] if language.strip() else ""
    inside = escape(code)
    if language == "console":
        inside = re.sub(r"(?m)^(\$|&gt;) (.*)$", r'<span class="prompt">\1</span> <b>\2</b>', inside)
    elif language:
        try:
            lexer = get_lexer_by_name(LANGUAGES.get(language, language), stripnl=False)
            inside = highlight(code, lexer, HtmlFormatter(nowrap=True))
        except ClassNotFound:
            pass  # Without colours it says the same.
    # A keyboard scrolls only where it can go.
    return f'<pre class="code" tabindex="0"><code>{inside.rstrip()}</code></pre>\n'


def reader():
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    markdown.add_render_rule(
        "fence", lambda self, tokens, at, options, env: coloured(tokens[at].content, tokens[at].info)
    )
    markdown.add_render_rule("code_block", lambda self, tokens, at, options, env: coloured(tokens[at].content, ""))
    markdown.add_render_rule("table_open", lambda self, *rest: '<div class="wide" tabindex="0"><table>\n')
    markdown.add_render_rule("table_close", lambda self, *rest: "</table></div>\n")
    return markdown


READER = reader()


def linked(tokens, follow):
    """Sets the targets of links by `follow`, which returns an address, or None where there is none on the site."""
    for token in tokens:
        within = token.children or []
        unlinked = 0
        for child, following in zip(within, [*within[1:], None]):
            if child.type == "link_open":
                target = follow(child.attrs["href"])
                # `<doc:Design>` names an article by its file.
                following.content = following.content.removeprefix("doc:")
                if target is None:
                    child.tag, child.attrs, unlinked = "span", {"class": "elsewhere"}, unlinked + 1
                else:
                    child.attrs["href"] = target
            elif child.type == "link_close" and unlinked:
                child.tag, unlinked = "span", unlinked - 1


def anchored(tokens):
    """Gives headings and clauses their anchors."""
    taken = {}
    for token, inline in zip(tokens, tokens[1:]):
        if token.type == "heading_open":
            text = "".join(child.content for child in inline.children if child.type in ("text", "code_inline"))
            token.attrs["id"] = slug(text, taken)
        if token.type == "paragraph_open" and inline.type == "inline" and inline.content.startswith("**S-"):
            found = CLAUSE.match(inline.content, 2)
            if found:
                token.attrs["id"] = found.group()


def rendered(text, follow=lambda target: target):
    """Some Markdown as HTML."""
    tokens = READER.parse(text)
    anchored(tokens)
    linked(tokens, follow)
    body = READER.renderer.render(tokens, READER.options, {})
    # A term list of DocC.
    return re.sub(r"<li>(<p>)?term (.*?): ", r"<li>\1\2: ", body)


def inline(text):
    """Markdown without paragraphs, for a cell or a line."""
    return READER.renderInline(text)


def title_and_lead(body):
    """The text of the first heading and of the first paragraph."""
    title = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    lead = re.search(r"<p[^>]*>(.*?)</p>", body, re.DOTALL)
    return plain(title.group(1)) if title else "", plain(lead.group(1)) if lead else ""
