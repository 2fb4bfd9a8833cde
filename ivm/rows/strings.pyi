from collections.abc import Iterable

class Interner:
    """The strings of one pool: equal strings have equal words."""

    def __init__(self) -> None: ...
    @property
    def bytes(self) -> int:
        """Bytes of the contents that are held, and of the table."""

    @property
    def count(self) -> int:
        """Strings that are held; those that fit into a word are not."""

    def open_snapshot(self) -> None:
        """Release no string until the snapshot is closed."""

    def close_snapshot(self) -> None:
        """Close one snapshot."""

    @property
    def snapshots(self) -> int:
        """Readers that hold words outside a step."""

def word_of(interner: Interner, content: bytes) -> int:
    """The word of `content`."""

def pinned_word_of(interner: Interner, content: bytes) -> int:
    """The word of `content`, which is kept as long as the interner."""

def content_of(interner: Interner, word: int) -> bytes:
    """The content of a word."""

def order_of(interner: Interner, a: int, b: int) -> int:
    """Negative, zero or positive, as content a is below, equal to or above content b."""

def order_prefix_of(interner: Interner, word: int) -> int:
    """The word that orders the content of `word` among all but those that share it."""

def hash_of(interner: Interner, word: int) -> int:
    """The hash of a word's content."""

def keep_only(interner: Interner, words: Iterable[int]) -> None:
    """Release every string but those of `words` and those pinned."""
