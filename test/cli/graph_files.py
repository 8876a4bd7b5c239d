#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of users: what igraph and networkx write must be read, what is damaged refused with file and line.

usage: graph_files.py PROGRAM
"""
import concurrent.futures
import hashlib
import io
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

import h5py
import igraph
import networkx as nx
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "parallel"))
from _common import Checks, Lab, digest, wait  # noqa: E402

REPLICATIONS = 2
TAIL = f"replications: {REPLICATIONS}\nseed: 5\npolicy: {{unif-pot: {{k: 1}}}}\nballs: 1n\n"
MEMORY_MAX = 600 << 20  # bytes that no damaged file may make the program take


def job_text(names, more=""):
    """A job with one point for each of some files; its first line holds their names."""
    paths = ", ".join(json.dumps(n, ensure_ascii=False) for n in names)
    return f"topology: {{file: {{path: [{paths}]{more}}}}}\n" + TAIL


# ---------------------------------------------------------------- what the libraries write


def simple(graph, isolated):
    """A networkx graph as a simple undirected one; `isolated`: vertices without edges stay."""
    g = nx.Graph(graph)
    g.remove_edges_from(list(nx.selfloop_edges(g)))
    if not isolated:
        g.remove_nodes_from([v for v in graph.nodes if graph.degree(v) == 0])
    return sorted(d for _, d in g.degree())


def networkx_files(folder):
    """Writes files; yields (name, sorted degrees)."""
    for number in range(3):
        chance = random.Random(number)
        n, m = (12, 60, 200)[number], (20, 150, 260)[number]
        bare = nx.gnm_random_graph(n, m, seed=number)
        directed = nx.gnm_random_graph(n, m, seed=number + 10, directed=True)
        directed.add_edge(0, 0)
        labels = {v: f"knot {v} <&\"é" for v in bare}
        words = nx.relabel_nodes(bare, {v: f"v{v * 7919 % 1000}" for v in bare})
        texts = nx.relabel_nodes(bare, labels)
        weighted = bare.copy()
        for u, v in weighted.edges:
            weighted[u][v]["weight"] = chance.random()
            weighted[u][v]["colour"] = chance.choice(["red", "two words"])
        graphs = {"bare": bare, "directed": directed, "words": words, "texts": texts, "weighted": weighted}
        for kind, g in graphs.items():
            base = f"nx{number}-{kind}"
            if kind != "texts":  # blanks within ids
                nx.write_edgelist(g, folder / f"{base}.edges")
                nx.write_edgelist(g, folder / f"{base}.csv", delimiter=",", data=False)
                yield f"{base}.edges", simple(g, False)
                yield f"{base}.csv", simple(g, False)
            nx.write_graphml(g, folder / f"{base}.graphml")
            nx.write_gml(g, folder / f"{base}.gml")
            yield f"{base}.graphml", simple(g, True)
            yield f"{base}.gml", simple(g, True)
            if kind in ("bare", "directed", "words"):
                nx.write_pajek(g, folder / f"{base}.net")
                yield f"{base}.net", simple(g, True)
        nx.write_weighted_edgelist(weighted, folder / f"nx{number}-w.tsv", delimiter="\t")
        yield f"nx{number}-w.tsv", simple(weighted, False)


def igraph_files(folder):
    for number in range(3):
        random.seed(number)
        n, m = (12, 60, 200)[number], (20, 150, 260)[number]
        for kind in ("plain", "directed", "named"):
            g = igraph.Graph.Erdos_Renyi(n=n, m=m, directed=kind == "directed", loops=kind == "directed")
            if kind == "named":
                g.vs["name"] = [f"v{i} é" for i in range(n)]
                g.es["weight"] = [random.random() for _ in range(m)]
            flat = g.copy().as_undirected().simplify()
            every = sorted(flat.degree())
            met = sorted(d for d, all_ in zip(flat.degree(), g.degree()) if all_)
            base = f"ig{number}-{kind}"
            g.write_edgelist(str(folder / f"{base}.edges"))
            g.write_graphml(str(folder / f"{base}.xml"))
            g.write_gml(str(folder / f"{base}.gml"))
            yield f"{base}.edges", met
            yield f"{base}.xml", every
            yield f"{base}.gml", every
            if kind != "named":
                g.write_pajek(str(folder / f"{base}.paj"))
                g.write_ncol(str(folder / f"{base}.ncol"), names=None, weights=None)
                yield f"{base}.paj", every
                yield f"{base}.ncol", met


def degrees_in(file, point):
    """Sorted degrees of the network of a point."""
    count = file["degree_count"][point].astype(np.int64)
    played = REPLICATIONS
    if (count % played).any():
        return None
    return sorted(np.repeat(np.arange(count.size), count // played).tolist())


def libraries(checks, lab):
    expected = dict(networkx_files(lab.folder)) | dict(igraph_files(lab.folder))
    names = sorted(expected)
    checks.check(len(names) > 90, f"only {len(names)} files were written")
    out = lab.fresh()
    code, _, err = lab.run(lab.job(job_text(names), "libraries"), out)
    if not checks.same(code, 0, f"files of igraph and networkx: {err[-2000:]}"):
        return
    with h5py.File(out) as f:
        found = [x.decode() for x in f["path"][()]]
        for name, degrees in expected.items():
            point = found.index(name)
            checks.same(f["n"][point], len(degrees), f"{name}: n")
            checks.same(degrees_in(f, point), degrees, f"{name}: degrees")
            content = hashlib.sha256((lab.folder / name).read_bytes()).hexdigest()
            checks.same(f["path_sha256"][point].decode(), content, f"{name}: path_sha256")
            checks.check("sha256" not in f["label"][point].decode(), f"{name}: a digest in the label")


# ---------------------------------------------------------------- damage

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
GRAPH = '<graph id="G" edgedefault="undirected">\n'
NODES = "".join(f'<node id="n{i}"/>\n' for i in range(5))
LINKS = "".join(f'<edge source="n{i}" target="n{(i + 1) % 5}"/>\n' for i in range(5))
XML = HEAD + GRAPH + NODES + LINKS + "</graph>\n</graphml>\n"  # nodes from line 4, edges from line 9
GML = (
    "graph [\n  directed 0\n"
    + "".join(f'  node [ id {i} label "v{i}" ]\n' for i in range(5))
    + "".join(f"  edge [ source {i} target {(i + 1) % 5} ]\n" for i in range(5))
    + "]\n"
)  # nodes from line 3, edges from line 8
PAJEK = (
    "*Vertices 5\n"
    + "".join(f'{i} "v{i}"\n' for i in range(1, 6))
    + "*Edges\n"
    + "".join(f"{i} {i % 5 + 1}\n" for i in range(1, 6))
)  # edges from line 8
EDGES = "# a ring\n0 1\n1 2\n2 3\n3 4\n4 0\n"
BOMBS = '<!DOCTYPE x [<!ENTITY a "&b;&b;"><!ENTITY b "&a;&a;">]>\n'
LAUGHS = "<!DOCTYPE x [<!ENTITY l0 'x'>" + "".join(
    f"<!ENTITY l{i} '{f'&l{i - 1};' * 10}'>" for i in range(1, 10)
) + "]>\n"


def with_entity(doctype, entity):
    first, rest = XML.split("\n", 1)
    return first + "\n" + doctype + rest.replace("n4", entity)


# (name, content, what stderr must hold behind "job.yaml:1:N: ")
REFUSED = [
    ("e.edges", "", "'path' e.edges cannot be read: it is empty"),
    ("e.edges", "\n\n", "e.edges:3: the file ends without an edge"),
    ("e.edges", "# nothing\n", "e.edges:2: the file ends without an edge"),
    ("e.edges", "0 1\n1 2\n2\n", "e.edges:3: one id where an edge needs two"),
    ("e.edges", EDGES[:-2], "e.edges:6: one id where an edge needs two"),
    ("e.edges", "from to\n0 1\n1 2\n", "e.edges:1: a word among whole numbers: is this line a header? (put # before it)"),
    ("e.edges", "source,target,weight\n0,1,2\n1,2,3\n", "e.edges:1: a word among whole numbers"),
    ("e.edges", "0 1\n1 123456789012345678901\n", "e.edges:2: id 123456789012345678901 is too large"),
    ("e.edges", "0 1\n1,,2\n", "e.edges:2: an empty column"),
    ("e.edges", b"0 1\n1 \0002\n", "e.edges:2: a NUL byte"),
    ("e.edges", b"0 1\n1 \xff\n", "e.edges:2: not UTF-8 text (byte 0xff)"),
    ("e.edges", bytes(range(1, 256)) * 9, "e.edges:1: a control character"),
    ("e.edges", EDGES.encode("utf-16"), "e.edges:1: UTF-16 text"),
    ("e.edges", "a b\n" + "c" * 2000 + " d\n", "e.edges:2: an id of 2000 bytes (at most 1000)"),
    ("e.edges", XML, "e.edges:1: no list of edges but XML (format: graphml reads GraphML)"),
    ("e.txt", PAJEK, "e.txt:1: no list of edges but a Pajek file (format: pajek)"),
    ("e.txt", GML, "e.txt:1: no list of edges but a GML file (format: gml)"),
    ("e.mtx", "%%MatrixMarket matrix coordinate\n5 5 1\n1 2\n", "e.mtx:1: no list of edges but a Matrix Market file"),
    ("g.graphml", XML[:1], "g.graphml:1: the file ends within a tag"),
    ("g.graphml", XML[:60], "g.graphml:2: the file ends within a tag"),
    ("g.graphml", XML[: XML.index("n3") - 3], "g.graphml:7: the file ends within a tag"),
    ("g.graphml", XML[: XML.index('<node id="n3')], "g.graphml:7: the file ends before </graphml>"),
    ("g.graphml", XML[: XML.rindex('<edge')], "g.graphml:13: the file ends before </graphml>"),
    ("g.graphml", XML[: XML.rindex("</graphml")], "g.graphml:15: the file ends before </graphml>"),
    ("g.graphml", XML.replace('target="n3"', 'target="n9"'), "g.graphml:11: target 'n9' is no node of the file"),
    ("g.graphml", XML.replace('source="n3"', 'source="x"'), "g.graphml:12: source 'x' is no node of the file"),
    ("g.graphml", XML.replace(' target="n3"', ""), "g.graphml:11: an edge without target"),
    ("g.graphml", XML.replace('<node id="n4"', "<node"), "g.graphml:8: a node without id"),
    ("g.graphml", XML.replace('<node id="n4"', '<node id="n3"'), "g.graphml:8: node 'n3' a second time"),
    ("g.graphml", XML.replace("</graph>", "</graph>\n<graph/>"), "g.graphml:15: a second <graph> (one to a file)"),
    ("g.graphml", XML.replace("</graph>", "<hyperedge/></graph>"), "g.graphml:14: hyperedges are no edges"),
    ("g.graphml", XML.replace("</graph>", "</grap>"), "g.graphml:14: igraph: "),
    ("g.graphml", XML.replace("n4", "n\xe9").encode("latin-1"), "g.graphml:8: igraph: Line 8: Input is not proper UTF-8"),
    ("g.graphml", with_entity(BOMBS, "&a;"), "g.graphml:2: document types and entities are not read"),
    ("g.graphml", with_entity(LAUGHS, "&l9;"), "g.graphml:2: document types and entities are not read"),
    ("g.graphml", XML.replace(LINKS, ""), "g.graphml: the graph has no edge"),
    ("g.graphml", XML[:200].encode() + b"\0" + XML[200:].encode(), "a NUL byte"),
    ("g.graphml", "<html><body>no</body></html>\n", "g.graphml:2: there is no <graph>: this is not GraphML"),
    ("g.gml", GML[: len(GML) // 2], "g.gml:"),
    ("g.gml", GML[:-2], "g.gml:13: igraph: Parse error in GML file"),
    ("g.gml", GML.replace("target 3", "target 77"), "g.gml:10: igraph: Unknown target node id"),
    ("g.gml", GML.replace("id 4", "id 3"), "g.gml:7: igraph: Duplicate node id"),
    ("g.gml", GML.replace("id 4", "id 12345678901234567890"), "g.gml:7: igraph: Non-integer node id"),
    ("g.gml", GML + GML, "g.gml:14: a second graph (one to a file)"),
    ("g.gml", "graph [" + "a [ " * 100000 + "] " * 100000 + "]\n", "g.gml:1: igraph: Parse error"),
    ("g.gml", "node [ id 1 ]\n", "g.gml:2: there is no graph: this is not GML"),
    ("g.gml", "graph [ node [ id 1 ] ]\n", "g.gml: the graph has no edge"),
    ("g.net", PAJEK[:12], "g.net: the graph has no edge"),
    ("g.net", PAJEK[:30], "g.net: the graph has no edge"),
    ("g.net", PAJEK[:-3], "g.net:12: one id where an edge needs two"),
    ("g.net", PAJEK.replace("5 1\n", "5 6\n"), "g.net:12: '6' is no vertex (they are 1 to 5)"),
    ("g.net", PAJEK.replace("5 1\n", "5 0\n"), "g.net:12: '0' is no vertex"),
    ("g.net", PAJEK.replace("5 1\n", "5 x\n"), "g.net:12: 'x' is no vertex"),
    ("g.net", "*Vertices 2000000000\n*Edges\n1 2\n", "g.net:1: 2000000000 vertices in a file of 32 bytes"),
    ("g.net", "*Vertices 99999999999999999999\n*Edges\n1 2\n", "g.net:1: "),
    ("g.net", "*Vertices -5\n*Edges\n1 2\n", "g.net:1: *Vertices must be followed by their number, not '-5'"),
    ("g.net", "*Edges\n1 2\n", "g.net:1: *Vertices must come first"),
    ("g.net", "*Vertices 3\n*Matrix\n0 1 0\n1 0\n", "g.net:4: row 2 of the matrix has 2 entries"),
    ("g.net", PAJEK + PAJEK, "g.net:13: *Vertices a second time"),
]

# (name, content, servers, what stderr must hold)
READ = [
    ("e.edges", EDGES, 5, None),
    ("e.edges", EDGES.replace("\n", "\r\n"), 5, None),
    ("e.edges", EDGES.replace("\n", "\r"), 5, None),
    ("e.edges", "\ufeff" + EDGES, 5, "e.edges: a byte order mark is ignored"),
    ("e.edges", EDGES[:-1], 5, "e.edges: the last line has no end (is the file whole?)"),
    ("e.edges", EDGES.replace(" ", " ; "), 5, None),
    ("e.edges", EDGES + "4 0\n0 4\n3 3\n", 5, "e.edges: 1 loop and 2 double edges dropped"),
    ("e.edges", "1 2 0.5\n2 3 0.7\n", 3, "columns after the second ignored; ids run from 1 to 3, 3 vertices"),
    ("e.edges", "0 1\n1 4000000000000000000\n", 3, "ids run from 0 to 4000000000000000000, 3 vertices numbered in order"),
    ("e.edges", "b a\na c\n", 3, "ids are words, 3 vertices numbered in order of appearance"),
    ("e.edges", EDGES + "7 8\n", 7, "7 vertices in 2 components, the largest of 5"),
    ("g.graphml", "\ufeff" + XML, 5, "g.graphml: a byte order mark is ignored"),
    ("g.graphml", XML.replace("\n", "\r\n"), 5, None),
    ("g.graphml", XML.replace("undirected", "directed"), 5, "g.graphml: directed edges are taken as undirected"),
    ("g.graphml", XML.replace("UTF-8", "ISO-8859-1").replace("n4", "n\xe9").encode("latin-1"), 5, None),
    ("g.graphml", XML.replace("<node", "<g:node").replace("</graph>", "<!-- <graph> -->\n</graph>"), None, None),
    ("g.gml", "\ufeff" + GML, 5, "g.gml: a byte order mark is ignored"),
    ("g.gml", "# a comment\n" + GML.replace("\n", "\r\n"), 5, None),
    ("g.gml", GML.replace("directed 0", "directed 1"), 5, "g.gml: directed edges are taken as undirected"),
    ("g.net", "\ufeff" + PAJEK.replace("\n", "\r\n"), 5, "g.net: a byte order mark is ignored"),
    ("g.net", PAJEK.replace("*Edges", "*Arcs"), 5, "g.net: directed edges are taken as undirected"),
    ("g.net", "*Vertices 5\n*Arcslist\n1 2 3 4 5\n", 5, "directed edges"),
    ("g.net", PAJEK.replace("*Edges", "*EDGES").replace("*Vertices", "%hi\n*vertices"), 5, None),
]


def folder_state(folder):
    return {str(p): p.is_file() and p.read_bytes() for p in sorted(folder.rglob("*"))}


def one_file(program, name, content):
    """Runs a job with one file in a folder of its own; returns (code, stderr, servers, changed)."""
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        if content is not None:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        (folder / "job.yaml").write_text(job_text([name]))
        before = folder_state(folder)
        done = subprocess.run(
            [program, "run", "job.yaml", "-o", "out.h5", "--progress", "none"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        servers = None
        if (folder / "out.h5").exists():
            with h5py.File(folder / "out.h5") as f:
                servers = int(f["n"][0])
        return done.returncode, done.stderr.decode(errors="replace"), servers, folder_state(folder) != before


def damage(checks, lab):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda c: one_file(lab.program, c[0], c[1]), REFUSED)
        for (name, content, words), (code, err, _, changed) in zip(REFUSED, results):
            what = f"{name} {content[:40]!r}"
            checks.same(code, 2, f"{what}: exit code")
            right = any(s.startswith("job.yaml:1:") and words in s for s in err.split("\n"))
            checks.check(right, f"{what}: lacks '{words}':\n{err}")
            checks.check(not changed, f"{what}: something was written")
        results = pool.map(lambda c: one_file(lab.program, c[0], c[1]), READ)
        for (name, content, n, words), (code, err, servers, _) in zip(READ, results):
            what = f"{name} {content[:40]!r}"
            if n is None:  # read or refused, but nothing worse
                checks.check(code in (0, 2), f"{what}: exit code {code}")
                continue
            if checks.same(code, 0, f"{what}: {err}: exit code"):
                checks.same(servers, n, f"{what}: servers")
                said = f"potluck: {name}: " in err
                checks.check(words in err if words else not said, f"{what}: '{words}' expected:\n{err}")
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    checks.check(most < MEMORY_MAX, f"some file took {most >> 20} MB")


def cut_everywhere(checks, lab):
    """Files cut at random places: read or refused, never anything else."""
    chance = random.Random(1)
    cases = []
    for name, text in (("e.edges", EDGES), ("g.graphml", XML), ("g.gml", GML), ("g.net", PAJEK)):
        cases += [(name, text[: chance.randrange(1, len(text))]) for _ in range(6)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (name, text), got in zip(cases, pool.map(lambda c: one_file(lab.program, *c), cases)):
            code, err, _, changed = got
            checks.check(code == 0 or (code == 2 and f"{name}:" in err and not changed), f"{name} {text[-30:]!r}: {got}")


# ---------------------------------------------------------------- names, digests, resume, ranks


def missing(checks, lab):
    """All mistakes at once, each at its place."""
    (lab.folder / "folder.edges").mkdir()
    (lab.folder / "good.edges").write_text(EDGES)
    (lab.folder / "bad.edges").write_text("0 1\n2\n")
    wrong = "0" * 64
    text = (
        "topology:\n"
        "  - file: {path: none.edges}\n"
        "  - file: {path: folder.edges}\n"
        f"  - file: {{path: good.edges@sha256:{wrong}}}\n"
        "  - file: {path: good.edges@sha256:12}\n"
        "  - file: {path: [a, b]}\n"
        '  - file: {path: ""}\n'
        "  - file: {format: gml}\n"
        "  - file: {path: good.edges, connect: redraw}\n" + TAIL
    )
    content = hashlib.sha256(EDGES.encode()).hexdigest()
    out = lab.fresh()
    code, stdout, err = lab.run(lab.job(text, "missing"), out)
    checks.same(code, 2, "missing files: exit code")
    path = lab.folder
    for place, words in (
        ("2:18", f"'path' {path}/none.edges cannot be read: No such file or directory"),
        ("3:18", f"'path' {path}/folder.edges cannot be read: it is a folder"),
        ("4:18", f"'path' good.edges has SHA-256 {content}, the job asks for {wrong}"),
        ("5:18", "'path': @sha256: must be followed by 64 hexadecimal digits"),
        ("6:19", f"'path' {path}/a cannot be read"),
        ("6:22", f"'path' {path}/b cannot be read"),
        ("7:18", "'path' must be a file name, not the text"),
        ("8:5", "file needs 'path' (a file name)"),
        ("9:39", "'connect' must be one of any, largest"),
    ):
        line = f"missing.yaml:{place}: {words}"
        checks.check(line in err, f"missing files: lacks '{line}':\n{err}")
    checks.check(not out.exists() and not stdout, "missing files: something was written")
    code, _, err = lab.run(lab.job(job_text(["bad.edges", "none.edges"]), "both"), out)
    checks.check(code == 2 and "bad.edges:2: one id" in err and "none.edges" in err, f"both mistakes at once:\n{err}")


def names(checks, lab):
    """Names that YAML needs quoted; the complete text reads as the same job."""
    strange = ["a b.edges", "é€.edges", "a: b #c.edges", "q'\".edges", "- x.edges", "[1, 2].edges", "null", "17", "sub/x.edges"]
    (lab.folder / "sub").mkdir()
    for n in strange:
        (lab.folder / n).write_text(EDGES)
    out, again = lab.fresh(), lab.fresh()
    code, _, err = lab.run(lab.job(job_text(strange), "names"), out)
    if not checks.same(code, 0, f"strange names: {err}"):
        return
    with h5py.File(out) as f:
        checks.same([x.decode() for x in f["path"][()]], strange, "strange names: column")
        resolved = f.attrs["resolved"]
        resolved = resolved.decode() if isinstance(resolved, bytes) else resolved
        for n, label in zip(strange, f["label"][()]):
            checks.check(n in label.decode(), f"{n!r} is not in its label {label!r}")
    checks.same(resolved.count("@sha256:" + hashlib.sha256(EDGES.encode()).hexdigest()), len(strange), "digests in resolved")
    code, _, err = lab.run(lab.job(resolved, "resolved"), again)
    if checks.same(code, 0, f"resolved as a job: {err}"):
        with h5py.File(again) as f:
            checks.same(f.attrs["resolved"], resolved, "resolved of resolved")
    code, _, err = lab.run(lab.job(job_text(["good.edges", str(lab.folder / "a b.edges")]), "absolute"), lab.fresh())
    checks.same(code, 0, f"an absolute path: {err}")
    twice = lab.job(job_text(["good.edges", "good.edges"]), "twice")
    code, _, err = lab.run(twice, lab.fresh())
    checks.check(code == 2 and "is listed twice" in err, f"a file listed twice: {err}")
    listed = subprocess.run([lab.program, "list", "topologies"], capture_output=True, text=True, check=False).stdout
    checks.check("path: a file name; required" in listed, "list does not say that path is a file name")


def resume(checks, lab):
    net = lab.folder / "my net.edges"
    net.write_text(EDGES)
    other = lab.folder / "net.edges"
    other.write_text(EDGES)
    job, out = lab.job(job_text(["net.edges", "my net.edges"]), "resume"), lab.fresh()
    code, _, err = lab.run(job, out)
    checks.same(code, 0, f"a first run: {err}")
    code, _, err = lab.run(job, out, "--resume", "-r", 4)
    checks.same(code, 0, f"--resume with the same file: {err}")
    before = digest(out)
    old, new = hashlib.sha256(net.read_bytes()).hexdigest(), hashlib.sha256((EDGES + "0 2\n").encode()).hexdigest()
    net.write_text(EDGES + "0 2\n")
    code, _, err = lab.run(job, out, "--resume", "-r", 6)
    said = f"--resume: my net.edges has changed: SHA-256 {new} here, {old} in {out}"
    checks.check(code == 2 and said in err and err.count("\n") == 1, f"--resume with another file: '{said}' expected:\n{err}")
    checks.same(digest(out), before, "results after a refused --resume")
    unseeded, out = lab.job(job_text(["net.edges"]).replace("seed: 5\n", ""), "unseeded"), lab.fresh()
    for options in ([], ["--resume", "-r", 4]):  # goes on with the seed of the results
        code, _, err = lab.run(unseeded, out, *options)
        checks.same(code, 0, f"a job without seed {options}: {err}")
    pinned = lab.job(job_text([f"my net.edges@sha256:{old}"]), "pinned")
    code, _, err = lab.run(pinned, lab.fresh())
    checks.check(code == 2 and f"has SHA-256 {new}, the job asks for {old}" in err, f"another digest: {err}")
    code, _, err = lab.run(lab.job(job_text([f"my net.edges@sha256:{new.upper()}"]), "right"), lab.fresh())
    checks.same(code, 0, f"the right digest in capitals: {err}")


def ranks(checks, lab):
    """The other ranks read nothing: they see the bytes of rank 0."""
    buffer = io.BytesIO()
    nx.write_edgelist(nx.gnm_random_graph(3000, 9000, seed=3), buffer, data=False)
    (lab.folder / "wide.edges").write_bytes(buffer.getvalue())
    (lab.folder / "wide.graphml").write_text(XML)
    text = job_text(["wide.edges", "wide.graphml"], ", connect: [any, largest]").replace(
        f"replications: {REPLICATIONS}", "replications: 40"
    )
    job = lab.job(text, "ranks")
    sums = []
    for layout in (None, (2, 1), (2, 2)):
        out = lab.fresh()
        code, _, err = lab.run(job, out, layout=layout)
        checks.same(code, 0, f"layout {layout}: {err}")
        sums.append(digest(out) if out.exists() else layout)
    checks.check(len(set(sums)) == 1, f"results differ between 1 and 2 ranks: {sums}")
    (lab.folder / "wide.edges").write_text("0 1\n2\n")
    code, _, err = wait(lab.start(lab.command(job, lab.fresh(), layout=(2, 1))))
    checks.check(code == 2 and err.count("wide.edges:2: one id") == 1, f"a mistake under mpirun: exit {code}:\n{err}")


def main():
    checks = Checks()
    with Lab(sys.argv[1]) as lab:
        for test in (damage, cut_everywhere, libraries, missing, names, resume, ranks):
            test(checks, lab)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
