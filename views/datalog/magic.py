"""Magic sets: a relation that is read with bound arguments derives only the rows that can answer.

After Beeri and Ramakrishnan, "On the Power of Magic" (J. Logic Programming 10, 1991). A recursive
relation that is read with some arguments bound gets a copy for them, `path{bf}`, whose rules also
read the relation of the bound values asked for, `magic path{bf}`. That has a rule for each reading:
its values are given by the literals before it.

An argument is bound if it is a constant, a variable that the body equates with one, or a variable
that stands in a bound argument of the head or in an earlier relation of which one is bound. In the
query itself, tables and relations without recursion bind their variables too: `?- q(x), path(x, y)`
asks for the paths from the rows of `q`.
Literals are taken in this order: those with a bound argument first, tables before relations that
rules define, else as they stand. Values computed by an expression are not passed on, so that magic
relations are finite. A relation under a negation or in an aggregate is derived in full. Relations
that it reads in turn may have copies, unless the bound values asked for there depend on it, in a
cycle through the negation: then these are derived in full, too.

A relation that passes its free arguments through, as `path(x, z) :- edge(x, y), path(y, z).` does
where `x` is bound, would be derived for every value that is reached. Its copy follows the bound
arguments alone, `reached path{bf}(o, y) :- reached path{bf}(o, x), edge(x, y).`, and takes answers
from the end of each chain (after Naughton, Ramakrishnan, Sagiv and Ullman, "Efficient Evaluation of
Right-, Left-, and Multi-Linear Rules", SIGMOD 1989).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from views.datalog.strata import defined_below, is_recursive, is_stratified, negated, reads
from views.datalog.syntax import (
    Aggregate,
    Argument,
    Atom,
    Comparison,
    Literal,
    Negation,
    Program,
    Rule,
    Term,
    by_relation,
    is_constant,
    is_variable,
    names,
    occurrences,
    own_terms,
    placed,
)

MAX_COPIES = 50
"""With more copies, of relations with many columns, the program is left as it is."""
MAX_LITERALS = 1_000
"""And with more literals: each reading in a long body repeats the literals before it."""
Names = Mapping[str, Sequence[str]]
"""The columns of the relations that rules define."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Names the columns `positions` of `relation`, some of whose rows another relation holds."""

    relation: str
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A program with the same result, and the origins of its new relations."""

    program: Program
    origins: Mapping[str, Origin]


@dataclass(frozen=True, slots=True)
class Asked:
    """A relation with its bound columns, which `bound` numbers; none stand for all rows."""

    relation: str
    bound: tuple[int, ...] = ()
    width: int = 0

    @property
    def name(self) -> str:
        """The name of the relation that answers."""
        if not self.bound:
            return self.relation
        letters = ("b" if i in self.bound else "f" for i in range(self.width))
        return f"{self.relation}{{{''.join(letters)}}}"

    @property
    def magic(self) -> str:
        """The name of the relation of the bound values asked for."""
        return f"magic {self.name}"

    @property
    def reached(self) -> str:
        """The name of the relation of the bound values that chains from those asked for reach."""
        return f"reached {self.name}"

    @property
    def free(self) -> tuple[int, ...]:
        """The columns that are not bound."""
        return tuple(i for i in range(self.width) if i not in self.bound)


def magic_sets(
    program: Program, components: Iterable[Sequence[str]], columns: Names
) -> Rewritten | None:
    """Gives recursive relations of `program` copies for bound arguments; None if none has any.

    `components` are those of the program, in order.
    """
    components = list(components)
    recursive = _recursive(program, components)
    alone = {name for name, *others in components if not others}
    while True:
        rewriting = _Rewriting(program, columns, recursive, alone)
        rewriting.run()
        if len(rewriting.asked) > len(program.rules) + MAX_COPIES:
            return None
        full = {a.relation for a in rewriting.asked if not a.bound}
        if not full & recursive and not is_stratified(rewriting.result()):
            full = defined_below(program, negated(program))
        if not full & recursive:
            break
        recursive -= full
    copies = [a for a in rewriting.asked if a.bound]
    if not copies or sum(len(rule.body) for rule in rewriting.rules) > MAX_LITERALS:
        return None
    origins = {a.name: Origin(a.relation, tuple(range(a.width))) for a in copies}
    origins |= {a.magic: Origin(a.relation, a.bound) for a in copies}
    origins |= {a.reached: Origin(a.relation, a.bound * 2) for a in copies if rewriting.passes(a)}
    return Rewritten(rewriting.result(), origins)


def _recursive(program: Program, components: Iterable[Sequence[str]]) -> set[str]:
    """The relations that are recursive or read one that is."""
    found: set[str] = set()
    for component in components:
        read = {
            atom.relation
            for name in component
            for rule in program.rules[name]
            for atom, _ in reads(rule.body)
        }
        if read & found or is_recursive(program, component):
            found |= set(component)
    return found


@dataclass(slots=True)
class _Rewriting:
    """Walks from the result down, once.

    `recursive` are the relations that may have copies; those that are `alone` are in no cycle with
    others.
    """

    program: Program
    columns: Names
    recursive: set[str]
    alone: set[str]
    asked: dict[Asked, None] = field(default_factory=dict)
    rules: dict[Rule, None] = field(default_factory=dict)

    def run(self) -> None:
        """Collects the rules of all relations that the result needs."""
        waiting = [Asked(self.program.result)]
        while waiting and len(self.asked) <= len(self.program.rules) + MAX_COPIES:
            asked = waiting.pop()
            if asked in self.asked:
                continue
            self.asked[asked] = None
            for rule in self._chained(asked) if self.passes(asked) else self._guarded(asked):
                waiting += self._rule(rule, asked)

    def result(self) -> Program:
        """Makes the program of the rules collected."""
        rules = by_relation(self.rules)
        kept = {name: d for name, d in self.program.declarations.items() if name in rules}
        return replace(self.program, declarations=kept, rules=rules)

    def passes(self, asked: Asked) -> bool:
        """Tells whether each recursive rule of `asked` passes its free arguments through."""
        rules = self.program.rules[asked.relation]
        return (
            bool(asked.bound)
            and asked.relation in self.alone
            and any(map(_recursive_atoms, rules))
            and all(self._passes(rule, asked) for rule in rules)
        )

    def _passes(self, rule: Rule, asked: Asked) -> bool:
        if not (found := _recursive_atoms(rule)):
            return all(_is_plain(a.term) for a in _at(rule.head.arguments, asked.bound))
        if len(found) > 1 or sum(a.relation == asked.relation for a, _ in reads(rule.body)) > 1:
            return False
        (call,) = (self.positional(atom) for atom in found)
        own = _at(rule.head.arguments, asked.bound)
        out, back = (_terms(a.arguments, asked.free) for a in (rule.head, call))
        bound = (*own, *_at(call.arguments, asked.bound))
        rest = [literal for literal in rule.body if literal not in found]
        others = {v.name for literal in rest for v in occurrences(literal)}
        others |= {name for a in bound if a.term is not None for name in names(a.term)}
        given = names(*(a.term for a in own if a.term is not None))
        given |= {name for atom, _ in reads(rest) for t in atom.terms for name in names(t)}
        asks = names(*(a.term for a in bound if a.term is not None))
        return (
            out == back
            and len(set(out)) == len(out)
            and None not in out
            and not others & set(out)
            and all(_is_plain(a.term) for a in bound)
            and asks <= given
        )

    def _is_query(self, asked: Asked) -> bool:
        """Whether this is the result and has no recursion of its own."""
        rules = self.program.rules[asked.relation]
        own = asked.relation in self.alone and not any(map(_recursive_atoms, rules))
        return asked.relation == self.program.result and own

    def _guarded(self, asked: Asked) -> Iterator["_Guarded"]:
        """The rules of `asked`, each for the values asked for."""
        for rule in self.program.rules[asked.relation]:
            head = replace(rule.head, relation=asked.name)
            magic = Atom(asked.magic, _at(rule.head.arguments, asked.bound), rule.head.at)
            yield _Guarded(Rule(head, rule.body), magic if asked.bound else None)

    def _chained(self, asked: Asked) -> Iterator["_Guarded"]:
        """The rules of `asked` as chains of bound values, from those asked for to an answer."""
        at = self.program.rules[asked.relation][0].head.at
        origin = tuple(Argument(None, placed(exp.column(f"origin {i}"), at)) for i in asked.bound)
        start = Atom(asked.reached, origin * 2, at)
        self.rules[Rule(start, (Atom(asked.magic, origin, at),))] = None
        for rule in self.program.rules[asked.relation]:
            own = _at(rule.head.arguments, asked.bound)
            guard = Atom(asked.reached, (*origin, *own), rule.head.at)
            if found := _recursive_atoms(rule):
                (call,) = (self.positional(atom) for atom in found)
                head = Atom(asked.reached, (*origin, *_at(call.arguments, asked.bound)), call.at)
                rest = tuple(literal for literal in rule.body if literal not in found)
                yield _Guarded(Rule(head, rest), guard)
                continue
            by_origin = dict(zip(asked.bound, origin, strict=True))
            arguments = (by_origin.get(i, a) for i, a in enumerate(rule.head.arguments))
            yield _Guarded(Rule(Atom(asked.name, tuple(arguments), rule.head.at), rule.body), guard)

    def _rule(self, guarded: "_Guarded", asked: Asked) -> Iterator[Asked]:
        """Adds a rule as `asked` needs it, and lists the relations that it asks for in turn."""
        rule = guarded.rule
        guard = [] if guarded.guard is None else [guarded.guard]
        given = {t.name for a in guard for t in a.terms if is_variable(t)}
        passing = _Passing(self, given, dict(_constants(rule.body)), self._is_query(asked))
        passing.prefix += [_open(a) for a in guard]
        waiting = list(rule.body)
        while waiting:
            literal = min(waiting, key=passing.rank)
            waiting.remove(literal)
            yield from passing.take(literal)
        for made in passing.magic:
            if made.head not in made.body:
                self.rules[made] = None
        kept = [a for a in guard if not _implied(a, asked, passing.body)]
        self.rules[Rule(rule.head, (*kept, *passing.body))] = None

    def positional(self, atom: Atom) -> Atom:
        """Gives `atom`, of a relation that rules define, all its arguments by position."""
        if all(a.name is None for a in atom.arguments):
            return atom
        given = {a.name: a.term for a in atom.arguments}
        arguments = (Argument(None, given.get(name)) for name in self.columns[atom.relation])
        return replace(atom, arguments=tuple(arguments))


@dataclass(frozen=True, slots=True)
class _Guarded:
    """A rule of a copy, and the atom that limits it to values that are asked for."""

    rule: Rule
    guard: Atom | None


@dataclass(slots=True)
class _Passing:
    """Collects the literals of one rule; `prefix` are those that pass bindings on.

    `constants` are the values of variables that the body equates with a constant. In the query,
    what is not recursive binds its variables.
    """

    rewriting: _Rewriting
    bound: set[str]
    constants: Mapping[str, Term]
    is_query: bool
    prefix: list[Literal] = field(default_factory=list)
    body: list[Literal] = field(default_factory=list)
    magic: list[Rule] = field(default_factory=list)

    def rank(self, literal: Literal) -> int:
        """Ranks a literal: of those that wait, the least is taken next."""
        match literal:
            case Atom():
                touched = any(self._is_bound(t) for t in literal.terms)
                defined = literal.relation in self.rewriting.program.rules
                if touched:
                    return 1 + defined
                return 4 if literal.relation in self.rewriting.recursive else 3
            case Comparison():
                return 0 if self._is_settled(literal) else 5
            case _:
                return 5

    def take(self, literal: Literal) -> Iterator[Asked]:
        """Takes a literal in, and lists the relations that it asks for."""
        match literal:
            case Atom():
                yield from self._atom(literal)
            case Comparison() if self._is_settled(literal):
                self.prefix.append(literal)
                self.body.append(literal)
            case Comparison() | Negation():
                self.body.append(literal)
                yield from (Asked(a.relation) for a, _ in reads([literal]) if self._defines(a))

    def _atom(self, atom: Atom) -> Iterator[Asked]:
        if self._defines(atom):
            atom = self.rewriting.positional(atom)
        positions = [
            i
            for i, argument in enumerate(atom.arguments)
            if argument.term is not None and self._is_bound(argument.term)
        ]
        if self._defines(atom):
            bound = tuple(positions) if atom.relation in self.rewriting.recursive else ()
            asked = Asked(atom.relation, bound, len(atom.arguments) if bound else 0)
            yield asked
            if bound:
                arguments = (self._constant(a) for a in _at(atom.arguments, bound))
                values = Atom(asked.magic, tuple(arguments), atom.at)
                self.magic.append(Rule(values, tuple(self.prefix)))
            atom = replace(atom, relation=asked.name)
        self.body.append(atom)
        if positions or (self.is_query and atom.relation not in self.rewriting.recursive):
            self.bound |= {t.name for t in atom.terms if is_variable(t)}
            self.prefix.append(_open(atom))

    def _defines(self, atom: Atom) -> bool:
        return atom.relation in self.rewriting.program.rules

    def _is_bound(self, term: Term) -> bool:
        known = is_variable(term) and (term.name in self.bound or term.name in self.constants)
        return known or is_constant(term)

    def _is_settled(self, comparison: Comparison) -> bool:
        """Whether a comparison, without an aggregate, has only bound variables."""
        terms = own_terms(comparison)
        return len(terms) == 2 and names(*terms) <= self.bound

    def _constant(self, argument: Argument) -> Argument:
        """`argument`, or the constant that it equals."""
        term = argument.term
        known = None if term is None or not is_variable(term) else self.constants.get(term.name)
        return argument if known is None else replace(argument, term=known)


def _constants(body: Sequence[Literal]) -> Iterator[tuple[str, Term]]:
    for literal in body:
        if isinstance(literal, Comparison) and literal.operator == "=":
            left, right = literal.left, literal.right
            if not isinstance(right, Aggregate):
                for one, other in ((left, right), (right, left)):
                    if is_variable(one) and is_constant(other):
                        yield one.name, other


def _recursive_atoms(rule: Rule) -> list[Atom]:
    """The literals of a rule that read its own relation."""
    own = rule.head.relation
    return [one for one in rule.body if isinstance(one, Atom) and one.relation == own]


def _is_plain(term: Term | None) -> bool:
    return term is not None and (is_variable(term) or is_constant(term))


def _terms(arguments: Sequence[Argument], positions: Iterable[int]) -> list[str | None]:
    """The names of the variables at the positions; None where something else stands."""
    found = (arguments[i].term for i in positions)
    return [t.name if t is not None and is_variable(t) else None for t in found]


def _implied(guard: Atom, asked: Asked, body: Sequence[Literal]) -> bool:
    """Tells whether the body reads `asked` itself for the same values, so that they are known."""
    return any(
        isinstance(literal, Atom)
        and literal.relation == asked.name
        and _at(literal.arguments, asked.bound) == guard.arguments
        for literal in body
    )


def _open(atom: Atom) -> Atom:
    """`atom` without its computed arguments, whose variables may not be bound yet."""
    arguments = (
        a if a.term is None or is_variable(a.term) or is_constant(a.term) else replace(a, term=None)
        for a in atom.arguments
    )
    return replace(atom, arguments=tuple(arguments))


def _at(arguments: Sequence[Argument], positions: Iterable[int]) -> tuple[Argument, ...]:
    return tuple(Argument(None, arguments[i].term) for i in positions)
