"""Every hostile input, a line each: its name, and what is done."""

from __future__ import annotations

from tests.drill.attacks import Attack, flood, plans, queries, sockets

REGEX = r"SELECT rlike(concat(repeat('a',{}),'!'), '(a)(a|aa)+\\1b$')"
REPLACED = r"SELECT regexp_replace(concat(repeat('a',{}),'!'), '(a)(a|aa)+\\1b$', '')"
OVER_ROWS = (
    r"SELECT count(*) FROM range(0, {0}, 1, {0}) WHERE rlike(concat(repeat('a', 60 + id), '!'),"
    r" '(a)(a|aa)+\\1b$')"
)
HEAD = b"POST /query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"

# The first one is tried by `make test` as well.
HOSTILE_INPUTS: dict[str, Attack] = {
    "regex over literals, 4 at once": queries(*(REGEX.format(each) for each in (60, 64, 65, 66))),
    "regex over literals, planned alone": plans(*(REGEX.format(each) for each in (70, 71, 72, 73))),
    "regex over literals, one for long": queries(REPLACED.format(74), timeout_s=5),
    "regex over rows, all slots": queries(OVER_ROWS.format(4)),
    "2,000,000,000 partitions": queries("SELECT count(*) FROM range(0,10,1,2000000000)"),
    "repeat() of 2 GB": queries("SELECT length(repeat('a', 2000000000))"),
    "sequence() of 500,000,000": queries("SELECT size(sequence(1, 500000000))"),
    "arrays in memory": queries(
        "SELECT size(collect_list(repeat(CAST(id AS STRING), 1000))) FROM range(0, 10000000, 1, 1)"
    ),
    "read option of 2,000,000,000 rows": queries(
        "SELECT sum(return_id) FROM lake.drill.returns WITH ('batch-size'='2000000000')", timeout_s=10
    ),
    "2,000 chained calls": queries("SELECT a" + ".a()" * 2000 + " FROM lake.drill.returns"),
    "ARRAY< 199 deep": queries("SELECT CAST(NULL AS " + "ARRAY<" * 199 + "INT" + ">" * 199 + ")"),
    "cross join without end": queries(
        "SELECT count(*) FROM range(0,1000000) a, range(0,1000000) b, range(0,1000000) c WHERE a.id+b.id=c.id"
    ),
    "300 queries of one caller": flood("SELECT max(pmod(hash(id), 2)) FROM range(0, 40000000, 1, 1)", 300),
    "500 half-sent headers": sockets(500, b"GET /healthz HTTP/1.1\r\nX-Half: "),
    "20 MiB of header lines": sockets(1, b"GET /healthz HTTP/1.1\r\n", b"X-Line: 1234567890\r\n" * 1_000_000),
    "50 unfinished bodies": sockets(
        50, HEAD + b"Content-Length: 4000000\r\n\r\n", b'{"sql": "' + b"1" * 3_900_000
    ),
}
