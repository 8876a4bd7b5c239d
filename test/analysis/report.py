# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports as files and as pages in a browser.

    python3 report.py PROGRAM
"""
import base64
import contextlib
import hashlib
import html.parser
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis"))
os.environ["MPLBACKEND"] = "Agg"

import matplotlib.image  # noqa: E402
import _browser  # noqa: E402
import potluck  # noqa: E402
from potluck import commands, report, report_tables  # noqa: E402

HOSTILE = """</title><script>document.title = 'taken'</script> "x" 'y' & <b onload=z> ünïcödé ∞"""
JOBS = {
    "balls": """# Does <i>nearness</i> cost balance?
# And "how" much & why?
#
# </pre></code><script>document.title = 'taken'</script> belongs to the job alone.
title: TITLE
model: balls
seed: 71
replications: 60
topology:
  - ring: {n: 60}
  - torus: {sides: 7x8}
policy:
  - one-choice
  - pot
  - unif-pot: {k: [1, 2]}
baseline: pot
""".replace("TITLE", '"' + HOSTILE.replace('"', r"\"") + r'\nsecond line"'),
    "queue": """# What is left of two choices next door?
title: A ring of queues
model: queue
seed: 72
replications: 20
topology: {ring: {n: 20}}
policy: [pot, one-choice, {unif-pot: {k: 1}}]
lambda: 0.8
horizon: 100n
baseline: pot
""",
    "dht": """title: A DHT ring
model: dht
seed: 73
replications: 10
nodes: 64
capacity: {lognormal: {median: 20, sigma: 1}}
destinations: {zipf: {alpha: 1.2}}
balancer: [none, transfer]
duration: 500
""",
    "means": """title: Means alone
model: balls
seed: 74
replications: 30
topology: {ring: {n: 50}}
policy: [pot, one-choice]
baseline: pot
keep: means
""",
    "one": """model: balls
seed: 75
replications: 1
topology: {complete: {n: 10}}
policy: one-choice
""",
    "many": """title: Many points
model: balls
seed: 76
replications: 3
topology:
  - ring: {n: 64}
  - torus: {sides: 8x8}
policy:
  - one-choice
  - unif-pot: {k: [KS]}
balls: [1n, 2n]
""".replace("KS", ", ".join(str(k) for k in range(1, 26))),
}
PARTIAL = JOBS["queue"].replace("A ring of queues", "Half of a ring of queues")
SECTIONS = ["plan", "results", "comparisons", "figures", "check", "provenance", "definitions"]
passed = failed = 0


def check(name: str, good: bool, seen: object = "") -> None:
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {name} {str(seen)[:400]}")


def play(program: str, folder: pathlib.Path, text: str, name: str, *options: str) -> pathlib.Path:
    job, out = folder / f"{name}.yaml", folder / f"{name}.h5"
    job.write_text(text)
    subprocess.run([program, "run", str(job), "-o", str(out), "--progress", "none", *options],
                   check=True, capture_output=True)
    return out


def command(*arguments: object) -> tuple[int, str]:
    """The command line within this process: its exit code and what it says."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = commands.main([str(a) for a in arguments])
    return code, said.getvalue()


class Reading(html.parser.HTMLParser):
    """What a page is made of; complains of what is not closed, not allowed or not told."""

    VOID = {"meta", "link", "img", "br"}
    KNOWN = VOID | set(
        "html head title style body header nav main section footer h1 h2 h3 p b small a ul li dl dt dd div span table "
        "caption thead tbody tr th td details summary pre code figure figcaption".split())

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.ids, self.links, self.count = [], [], [], [], {}
        self.plain, self.style, self.pictures, self.policy = [], "", [], ""
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in self.KNOWN or len(values) != len(attrs):
            self.wrong.append(f"<{tag}>")
        self.wrong += [f"{tag} {a}" for a in values if a.startswith("on") or a == "style"]
        self.wrong += [f"{tag} {a}={v[:50]}" for a, v in attrs if v and "//" in v and not v.startswith("data:")]
        self.ids += [values["id"]] if "id" in values else []
        if tag in ("a", "link"):
            self.links.append(values.get("href", ""))
        if tag == "img":
            self.pictures.append(values.get("src", ""))
            self.wrong += [] if len(values.get("alt", "")) > 20 else ["img without alt"]
        if tag == "th" and values.get("scope") not in ("row", "col"):
            self.wrong.append("th without scope")
        if tag == "meta" and values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.style += data
        elif self.open and self.open[-1] != "title":
            self.plain.append(data)


def whole(name: str, path: pathlib.Path, program: str) -> str:
    """A page on its own: well formed, of one piece, with the numbers that `show` prints."""
    text = report.page(path)
    seen = Reading(text)
    check(f"{name}: well formed, nothing that runs or loads", not seen.wrong, seen.wrong)
    check(f"{name}: each id once", len(seen.ids) == len(set(seen.ids)), seen.ids)
    check(f"{name}: links stay", all(h.startswith("data:") or h[1:] in seen.ids for h in seen.links), seen.links)
    check(f"{name}: pictures are in it", all(re.match("data:image/(svg.xml|png);base64,", p) for p in seen.pictures))
    check(f"{name}: styles load nothing", not re.search(r"url\(|@import|@font-face", seen.style))
    check(f"{name}: a policy that forbids", seen.policy.startswith("default-src 'none'; img-src data:;"), seen.policy)
    digest = base64.b64encode(hashlib.sha256(seen.style.encode()).digest()).decode()
    check(f"{name}: a policy that knows the style", f"style-src 'sha256-{digest}'" in seen.policy)
    one = [seen.count.get(tag, 0) for tag in ("h1", "main", "nav", "title", "style")]
    check(f"{name}: one of each", one == [1] * 5, one)
    check(f"{name}: a caption for each table", seen.count["caption"] == seen.count["table"], seen.count)
    check(f"{name}: a caption for each figure",
          seen.count.get("figure", 0) == seen.count.get("figcaption", 0) == len(seen.pictures))
    for picture in seen.pictures:
        drawn = base64.b64decode(picture.split(",", 1)[1])
        outside = re.findall(rb'(?:href|src)="(?!#)[^"]*"|url\((?!#)[^)]*\)|<!DOCTYPE|<script', drawn)
        check(f"{name}: a picture refers to nothing", not outside, outside)
    plain = " ".join(seen.plain).replace("−", "-")
    shown = subprocess.run([program, "show", str(path)], capture_output=True, text=True, check=True).stdout
    numbers = re.findall(r"-?[\d.e-]+ ± [\d.e-]+", shown)
    lacks = [n for n in numbers if n not in plain]
    check(f"{name}: the numbers of `show`, in the same digits", not lacks, lacks[:5])
    if name != "one":
        check(f"{name}: there are some", len(numbers) >= 4, numbers)
    with potluck.open(path) as ds:
        job, resolved, variables = str(ds.attrs["job"]), str(ds.attrs["resolved"]), potluck.statistics(ds)
        named = [v.removeprefix("mean_") for v in variables if v.startswith("mean_")]
        facts = [str(ds.attrs["seed"]), str(ds.attrs["source_revision"]), str(ds.attrs["model"])]
    for what in (job, resolved, hashlib.sha256(path.read_bytes()).hexdigest(), *facts):
        check(f"{name}: provenance", what in seen.plain or f" {what} " in f" {plain} ", what)
    check(f"{name}: every statistic is defined", all(n in seen.plain for n in named), named)
    if name in ("means", "one"):
        check(f"{name}: the same bytes again", report.page(path) == text)
    return text


def contents(pages: dict[str, str]) -> None:
    """What stands in which page."""
    sections = {name: re.findall('<section id="([a-z]+)"', page) for name, page in pages.items()}
    check("all sections of balls and queue", all(sections[n] == SECTIONS for n in ("balls", "queue")), sections)
    check("no baseline, no comparisons", "comparisons" not in sections["one"], sections["one"])
    check("means: says why there are no comparisons", "keeps means only" in pages["means"])
    check("the title in one line of its own", f"<h1>{report.html.text(HOSTILE)}" in pages["balls"])
    question = "Does &lt;i&gt;nearness&lt;/i&gt; cost balance? And &quot;how&quot; much &amp; why?</p>"
    check("the question, and no more of the comment", question in pages["balls"])
    check("no title: the name of the file", "<h1>one.h5</h1>" in pages["one"])
    check("whole files do not warn", all(('class="partial"' in p) == (n == "partial") for n, p in pages.items()))
    check("partial: says so", "Incomplete: 0 of 3 points are done" in pages["partial"])
    check("partial: of how many", "rests on the 12 (of 20) replications" in pages["partial"])
    check("many points: in groups", pages["many"].count("<details") > 4 and "<b>ring</b>" in pages["many"],
          re.findall("<summary>.*?</summary>", pages["many"]))
    check("many points: all are there", all(f'class="n">{p}</th>' in pages["many"] for p in range(2 * 26 * 2)))
    cases = {"1.235 ± 0.012": (1.23456, 0.0123), "−5 ± 12": (-5.0, 12.3), "3": (3.0, 0.0),
             "–": (float("nan"), 1.0), "0.1235 ± 1.2e-09": (0.1234567890123, 1.234e-9), "0.333": (1 / 3, float("nan"))}
    seen = [report_tables.estimate(*values) for values in cases.values()]
    check("estimates", seen == list(cases), seen)
    check("questions", [report.question(j) for j in ("model: x # no", "---\n# a\n#b\n\n# c", "\n#\n# a\nk: 1\n# b", "")]
          == ["", "a b", "a", ""], [report.question(j) for j in ("---\n# a\n#b\n\n# c", "\n#\n# a\nk: 1\n# b")])


def files(folder: pathlib.Path, good: pathlib.Path) -> None:
    """Written whole or not at all; damage is named in one sentence."""
    out = folder / "out" / "page.html"
    out.parent.mkdir()
    out.write_text("old")
    code, said = command("report", good, "-o", out, "--title", "Mine <&>")
    check("replaces a page", (code, said) == (0, "") and "<h1>Mine &lt;&amp;&gt;</h1>" in out.read_text(), said)
    check("leaves nothing else", os.listdir(out.parent) == ["page.html"], os.listdir(out.parent))
    check("readable as other files", out.stat().st_mode & 0o777 == 0o666 & ~_umask(), oct(out.stat().st_mode))
    code, said = command("report", good)
    check("by default beside the results", code == 0 and good.with_suffix(".html").exists(), said)
    before, content = out.read_bytes(), good.read_bytes()
    damaged = {"cut": content[: len(content) // 2], "stub": content[:300], "empty": b"", "text": b"model: balls\n",
               "heap": content.replace(b"GCOL", b"XXXX")}
    for name, damage in damaged.items():
        path = folder / f"{name}.h5"
        path.write_bytes(damage)
        code, said = command("report", path, "-o", out)
        check(f"{name}: 2, one sentence with its name", code == 2 and said.count("\n") == 1 and path.name in said, said)
    for name, page in (("missing.h5", out), (good.name, folder / "nowhere" / "page.html"), (good.name, out.parent),
                       (good.name, good)):
        code, said = command("report", folder / name, "-o", page)
        check(f"{name} into {page.name}: 2, one sentence", code == 2 and said.count("\n") == 1, said)
    check("the page and the results are as they were", out.read_bytes() == before and good.read_bytes() == content)
    check("nothing is left", os.listdir(out.parent) == ["page.html"], os.listdir(out.parent))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# Text of an element of its own: its size, and the contrast to what lies behind it (WCAG 2).
MEASURE = """(() => {
  const light = c => { const l = c.map(x => x / 255).map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
                       return .2126 * l[0] + .7152 * l[1] + .0722 * l[2]; };
  const rgb = s => s.match(/[\\d.]+/g).map(Number);
  const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
                          if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  let size = 1e9, contrast = 1e9, where = '';
  for (const e of document.body.querySelectorAll('*')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const s = getComputedStyle(e); size = Math.min(size, parseFloat(s.fontSize));
    const a = light(rgb(s.color).slice(0, 3)), b = light(behind(e));
    const c = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (c < contrast) { contrast = c; where = e.outerHTML.slice(0, 80); } }
  const scale = Math.min(9, ...[...document.images].map(i => i.naturalWidth ? i.clientWidth / i.naturalWidth : 0));
  return {size, contrast, where, scale, width: document.documentElement.scrollWidth, title: document.title,
          bright: light(behind(document.querySelector('h1'))), policy: getComputedStyle(document.body).marginTop,
          broken: [...document.images].filter(i => !i.naturalWidth).length}; })()"""


def looks(folder: pathlib.Path, pages: dict[str, str]) -> None:
    """In Chromium: no request, no sideways scrolling, readable in the light and in the dark."""
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    views = [("balls", w, d) for w, d in ((360, False), (360, True), (800, False), (1400, True))]
    views += [("queue", 360, True), ("queue", 1400, False), ("partial", 360, False)]
    views += [("dht", 360, True), ("many", 360, False), ("one", 1400, False)]
    with _browser.Browser() as browser:
        for name, width, dark in views:
            page = browser.open(folder / f"{name}.html", width=width, dark=dark)
            seen, what = page.evaluate(MEASURE), f"{name} at {width} px{' in the dark' if dark else ''}"
            check(f"{what}: asks for nothing", all(r.startswith("data:") for r in page.requests[1:]), page.requests[1:])
            check(f"{what}: does not scroll sideways", seen["width"] <= width, seen["width"])
            check(f"{what}: no small print", seen["size"] >= 11, seen["size"])
            check(f"{what}: print of figures, at least 8 points", seen["scale"] * 8 * 96 / 72 >= 11, seen["scale"])
            check(f"{what}: contrast", seen["contrast"] >= 4.5, (seen["contrast"], seen["where"]))
            check(f"{what}: the style is in force, pictures are shown", seen["policy"] == "0px" and not seen["broken"])
            check(f"{what}: nothing of the title ran", seen["title"] != "taken", seen["title"])
            pixels = matplotlib.image.imread(io.BytesIO(page.screenshot()))[:, :, :3]
            check(f"{what}: {'dark' if dark else 'light'} paper", (pixels[2, 2].mean() < 0.2) == dark
                  and (seen["bright"] < 0.05) == dark, (pixels[2, 2], seen["bright"]))
            check(f"{what}: something is written on it", pixels[:600].std() > 0.05, pixels.std())
            if name == "partial":
                low = page.evaluate("document.querySelector('.partial').getBoundingClientRect().bottom")
                check(f"{what}: the first screen says so", low <= 900, low)
            if name == "balls" and width == 800:
                job = page.evaluate("document.querySelector('#provenance pre code').textContent")
                check("the job in the browser, byte for byte", job == JOBS["balls"], job)
                check("prints", page.pdf().startswith(b"%PDF"))
                browser.call("Emulation.setEmulatedMedia", page.session, media="print")
                hidden = page.evaluate("[...document.querySelectorAll('details :is(table, pre)')]"
                                       ".filter(e => !e.checkVisibility({contentVisibilityAuto: true})).length")
                check("prints what is folded", hidden == 0, hidden)
            page.close()
        outward(folder, browser, pages["queue"])


def outward(folder: pathlib.Path, browser: _browser.Browser, page: str) -> None:
    """What would leave is seen to leave, unless the page forbids it."""
    def called(mark: str) -> int:
        return sum(mark in call for call in browser.calls)

    picture = '<img alt="" src="http://elsewhere.invalid/{}.png">'
    open_page, closed = folder / "open.html", folder / "closed.html"
    open_page.write_text("<!DOCTYPE html><title>x</title>" + picture.format("free"))
    closed.write_text(page.replace("</main>", picture.format("held") + "</main>"), encoding="utf-8")
    for path in (open_page, closed):
        browser.open(path).close()
    check("a page without a policy is seen to call", called("elsewhere.invalid/free") == 1, browser.calls)
    check("the policy of a report holds", called("elsewhere.invalid/held") == 0, browser.calls)
    # Chromium itself asks its maker for the time and for updates; nobody else is asked for.
    hosts = {re.sub(r"^\S+ (?:\w+://)?([^/:? ]+).*", r"\1", call) for call in browser.calls} - {"elsewhere.invalid"}
    strange = [h for h in hosts if not re.search(r"(^|\.)(google|googleapis|gstatic)\.com$", h)]
    check("no page called anybody", not strange, strange)


def main() -> int:
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = {key: play(program, folder, text, key) for key, text in JOBS.items()}
        paths["partial"] = play(program, folder, PARTIAL, "partial", "--replications", "0:12")
        pages = {key: whole(key, path, program) for key, path in paths.items()}
        contents(pages)
        files(folder, paths["one"])
        if _browser.PROGRAM:
            looks(folder, pages)
        else:
            check("Chromium is there (package chromium)", False)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
