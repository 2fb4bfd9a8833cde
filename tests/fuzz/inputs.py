"""The inputs by number: every second one from a grammar, the others mutations of good texts."""

from random import Random

from tests.fuzz.grammar import DATALOG, SQL, about, text
from tests.fuzz.mutate import mutate
from tests.property.queries import QUERIES
from tests.property.shop import CATALOG
from tests.unit.views.programs import PROGRAMS
from views.catalog import Language

LANGUAGES: tuple[Language, ...] = ("sql", "datalog")
_GRAMMARS = {"sql": SQL, "datalog": DATALOG}
_TEXTS = {"sql": QUERIES, "datalog": PROGRAMS}


def made(language: Language, seed: int, number: int) -> str:
    """The input `number` of a run."""
    random = Random(f"{language} {seed} {number}")
    grammar, texts = _GRAMMARS[language], _TEXTS[language]
    if number % 2:
        return mutate(random.choice(texts), texts, random)
    if random.random() < 0.8:
        table = random.choice(CATALOG.tables)
        grammar = about(grammar, table.name, table.schema.names)
    made = text(grammar, random)
    return mutate(made, texts, random) if random.random() < 0.2 else made
