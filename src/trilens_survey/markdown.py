"""Markdown in the texts of a study: links and lists, and nothing that runs or loads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

#: Where a link may lead.
_SCHEMES = ("https://", "http://", "mailto:")


def to_html(text: str) -> Markup:
    """HTML of a text that a researcher wrote.

    HTML in the text is shown as it stands, a picture becomes a link, and links lead to ``https``,
    ``http`` and ``mailto`` alone; they open beside the study, which is not left.

    >>> print(to_html("See **[here](https://example.org)**."), end="")
    <p>See <strong><a href="https://example.org" target="_blank" rel="noopener noreferrer">here</a></strong>.</p>
    >>> print(to_html("<script>x</script> [x](javascript:y)"), end="")
    <p>&lt;script&gt;x&lt;/script&gt; [x](javascript:y)</p>
    """  # noqa: E501
    parser = _parser()
    tokens = parser.parse(text)
    _order_headings(tokens)
    # escaped by the parser, which lets no HTML through
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def _order_headings(tokens: Sequence[Token]) -> None:
    """Headings from the second level on, without gaps: the page has its own first heading.

    >>> print(to_html("### a\\n# b\\n## c"), end="")
    <h2>a</h2>
    <h2>b</h2>
    <h3>c</h3>
    """
    above: list[int] = []
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
            above = [one for one in above if one < level] + [level]
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{len(above) + 1}"


class _Renderer(RendererHTML):
    def link_open(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
    ) -> str:
        tokens[index].attrSet("target", "_blank")
        tokens[index].attrSet("rel", "noopener noreferrer")
        return self.renderToken(tokens, index, options, env)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer)
    parser.disable(["image", "html_block", "html_inline"])
    parser.validateLink = _leads_out  # type: ignore[method-assign]
    return parser


def _leads_out(url: str) -> bool:
    return url.strip().lower().startswith(_SCHEMES)
