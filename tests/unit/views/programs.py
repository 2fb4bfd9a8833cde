"""Datalog programs that are views over the shop."""

_TEXT = """
path(x, y) :- follows(x, y). path(x, z) :- path(x, y), follows(y, z). .output path

path(x, y) :- follows(x, y). path(x, z) :- follows(x, y), path(y, z). ?- path(1, x).

sg(x, y) :- follows(p, x), follows(p, y). sg(x, y) :- follows(p, x), sg(p, q), follows(q, y).
?- sg(x, 2).

odd(y) :- follows(1, y). odd(y) :- even(x), follows(x, y). even(y) :- odd(x), follows(x, y).
.output even

.decl due(day: date, n: number) due("2024-01-01", 1). due("2024-01-02", 2). ?- due(x, n), n > 1.

?- customers(id: i, name: n), follows(i, j), !follows(j, i).

big(c, s) :- customers(id: c), s = sum(t) : { orders(customer_id: c, total: t) }, s > 100.
.output big

?- customers(id: c), n = count : { follows(c, y), 1 = count : { follows(y, _) } }.

n(1). n(y) :- n(x), x < 9, y = x * 2 % 7 + 1. .output n

?- orders(i, _, s, d, t), upper(s) = "PAID", m = t::bigint + 1, d > "2024-01-01"::date.

dist(y, 1) :- follows(1, y). dist(z, d + 1) :- dist(y, d), follows(y, z), d < 9.
near(y, d) :- dist(y, _), d = min e : { dist(y, e) }. .output near

alone(x) :- customers(id: x), !met(x). met(x) :- follows(x, _). met(y) :- follows(_, y).
?- alone(x), x % 2 = 0, y = -(x + 1.5) / 3, y != 0 /* none */.
"""

PROGRAMS = [" ".join(program.split("\n")) for program in _TEXT.strip().split("\n\n")]
