# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report is made of: escaped text, tables, and the page around them.

A page is one file that loads nothing: its policy forbids that to the browser, pictures are in it,
fonts are those of the reader, and there is no script.
"""
from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

#: Control characters that HTML cannot hold; carriage returns it can, as a reference.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")

_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--quiet:#545d68;--line:#d5dae0;
--band:#f4f6f8;--link:#0a58a8;--warn:#7a4300;--warned:#fff3df;--bad:#a3121d;--good:#146c34}
@media (prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e5e8ec;--quiet:#a5aeb9;
--line:#3a424c;--band:#1e2329;--link:#83bcf7;--warn:#ffcf87;--warned:#33270f;--bad:#ff9a98;
--good:#7fd69b}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,
"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;overflow-wrap:break-word}
header,main,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2rem}
h1{font-size:clamp(1.5rem,1.2rem + 1.6vw,2.1rem);line-height:1.2;margin:0 0 .5rem;
text-wrap:balance}
h2{font-size:1.3rem;line-height:1.3;margin:3rem 0 .75rem;padding-top:.6rem;
border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.75rem 0 .5rem}
p,dl,ul{margin:.6rem 0;max-width:46rem}
a{color:var(--link)}
.question{font-size:1.15rem;margin:.25rem 0 1rem}
.quiet,figcaption p+p,footer{color:var(--quiet);font-size:.9rem}
.facts{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;padding:0;margin:1rem 0;list-style:none;
max-width:none}
.facts b{font-weight:600}
.partial{background:var(--warned);color:var(--warn);border-left:.3rem solid;padding:.7rem 1rem;
margin:1rem 0;font-weight:600;max-width:none}
.bad{color:var(--bad);font-weight:600}.good{color:var(--good)}
nav ul{display:flex;flex-wrap:wrap;gap:.35rem 1.1rem;padding:.6rem 0;margin:0;list-style:none;
border-top:1px solid var(--line);max-width:none}
.wide{overflow-x:auto;max-width:100%;margin:.75rem 0 1.25rem}
.wide:focus-visible,summary:focus-visible,a:focus-visible{outline:2px solid var(--link);
outline-offset:2px}
table{border-collapse:collapse;font-size:.875rem;line-height:1.4;
font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--quiet);padding:0 0 .4rem;font-size:.875rem}
caption b{color:var(--ink)}
th,td{padding:.25rem .75rem;text-align:left;white-space:nowrap;vertical-align:top}
th:first-child,td:first-child{padding-left:.4rem}
th{font-weight:600}
thead th{border-bottom:1px solid var(--quiet);vertical-align:bottom}
thead small{display:block;font-weight:400;color:var(--quiet);font-size:.75rem}
tbody th{font-weight:400}
tbody tr:nth-child(even){background:var(--band)}
.n{text-align:right}
.t{white-space:normal;min-width:11rem;max-width:38rem}
tbody th,thead th:first-child{position:sticky;left:0;background:var(--paper)}
tbody tr:nth-child(even) th{background:var(--band)}
summary{cursor:pointer;padding:.3rem 0;color:var(--link)}
summary b{font-weight:600}
pre{background:var(--band);border:1px solid var(--line);border-radius:.3rem;padding:.8rem 1rem;
overflow-x:auto;font-size:.8125rem;line-height:1.45;margin:.6rem 0;tab-size:4}
code{font-family:ui-monospace,"Cascadia Mono","DejaVu Sans Mono",Menlo,monospace;font-size:.92em}
pre code{font-size:1em}
.hash{overflow-wrap:anywhere}
figure{margin:1.5rem 0 2.25rem}
figure .wide{background:#fff;border:1px solid var(--line);border-radius:.3rem;padding:.5rem;
width:fit-content}
figure img{display:block;width:100%;height:auto}
figcaption{max-width:46rem}
figcaption p{margin:.4rem 0}
dt{font-weight:600;margin-top:.5rem}dd{margin:0}
footer p{margin:3rem 0 2rem;padding-top:1rem;border-top:1px solid var(--line);max-width:none}
@media (max-width:30rem){header,main,footer{padding-left:.9rem;padding-right:.9rem}
th,td{padding-left:.5rem;padding-right:.5rem}}
@media print{:root{color-scheme:light;--paper:#fff;--ink:#000;--quiet:#333;--line:#bbb;
--band:#f4f6f8;--link:#000;--warn:#000;--warned:#fff;--bad:#000;--good:#000}
body{font-size:10pt}nav{display:none}a{text-decoration:none}
header,main,footer{max-width:none;padding-left:0;padding-right:0}
.wide,pre{overflow:visible}tbody th,thead th{position:static}pre{white-space:pre-wrap}
table{font-size:7.5pt}
th,td{padding:.1rem .35rem;white-space:normal}
h2,h3,caption{break-after:avoid}figure,tr{break-inside:avoid}thead{display:table-header-group}
figure img{min-width:0!important}details::details-content{content-visibility:visible;
block-size:auto}}
"""


class Column(NamedTuple):
    """A column of a table: its head, what stands under that in small print, and how it stands."""

    head: str
    small: str = ""
    kind: str = "n"  # n: a number, to the right; s: a word; t: a text that may break


def text(value: object) -> str:
    """Escaped for HTML, in elements and in quoted attributes.

    Line ends stay what they are; characters that HTML cannot hold become U+FFFD.
    """
    plain = str(value).encode("utf-8", "replace").decode("utf-8")
    escaped = html.escape(_UNSEEN.sub("\ufffd", plain), quote=True)
    return escaped.replace("\r", "&#13;")


def prose(value: str) -> str:
    """Escaped, with what stands between backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", text(value))


def paragraph(value: str, of: str = "") -> str:
    """A paragraph of plain text, in which backticks mark code."""
    mark = f' class="{of}"' if of else ""
    return f"<p{mark}>{prose(value)}</p>"


def table(
    caption: str, columns: Sequence[Column], rows: Iterable[Sequence[str]], name: str
) -> str:
    """A table that scrolls sideways in a box of its own.

    Parameters
    ----------
    caption, rows : in HTML already, so escaped by who made them. The first cell heads its row.
    columns : plain text.
    name : what a reader of the screen calls the box, plain text.
    """
    head = "".join(
        f'<th scope="col" class="{c.kind}">{text(c.head)}'
        + (f"<small>{text(c.small)}</small>" if c.small else "")
        + "</th>"
        for c in columns
    )
    body = "".join(
        f'<tr><th scope="row" class="{columns[0].kind}">{row[0]}</th>'
        + "".join(f'<td class="{c.kind}">{cell}</td>' for c, cell in zip(columns[1:], row[1:]))
        + "</tr>\n"
        for row in rows
    )
    return scrolling(
        f"<table><caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}</tbody></table>",
        name,
    )


def scrolling(inner: str, name: str) -> str:
    """A box that scrolls sideways, with the keyboard too."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{text(name)}">{inner}</div>\n'


def folded(summary: str, inner: str, *, unfolded: bool = False) -> str:
    """What opens on demand; `summary` is plain text with code in backticks."""
    state = " open" if unfolded else ""
    return f"<details{state}><summary>{prose(summary)}</summary>\n{inner}</details>\n"


def verbatim(value: str) -> str:
    """Text as it is, byte for byte: `textContent` of the code is `value`."""
    return f'<pre tabindex="0"><code>{text(value)}</code></pre>\n'


def data_uri(kind: str, content: bytes) -> str:
    """Content as an address that holds it."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def page(title: str, head: str, sections: Sequence[tuple[str, str, str]], style: str = "") -> str:
    """The whole page.

    Parameters
    ----------
    title : plain text.
    head : what stands before the list of sections, HTML.
    sections : name (an id), heading (plain text) and content (HTML) of each.
    style : rules beside those of every report.
    """
    style = _STYLE + style
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; form-action 'none'"
    links = "".join(f'<li><a href="#{n}">{text(h)}</a></li>' for n, h, _ in sections)
    body = "".join(
        f'<section id="{n}" aria-labelledby="{n}-head"><h2 id="{n}-head">{text(h)}</h2>\n{inner}'
        "</section>\n"
        for n, h, inner in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{text(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
        f"<title>{text(' '.join(title.split()))}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<header>\n{head}<nav aria-label="Sections"><ul>{links}</ul></nav>\n</header>\n'
        f"<main>\n{body}</main>\n"
        "<footer><p>Made by <code>python3 -m potluck report</code>. This page loads nothing.</p>"
        "</footer>\n"
        "</body>\n</html>\n"
    )
