"""Large blocks of memory, which are kept for the next taker."""

import random

import numpy as np
import pytest

from ivm.rows.shims import MOVES_TOGETHER, Block

PAGE = 1 << 12
MIB = 1 << 20
MORE_THAN_WAITS = 300 * MIB


def test_no_two_blocks_share_memory_however_they_come_grow_and_go() -> None:
    generator = random.Random(7)
    blocks: dict[int, Block] = {}
    for number in range(400):
        if len(blocks) > 8:
            number_gone = generator.choice(list(blocks))
            blocks.pop(number_gone).close()
        block = Block(generator.choice((5000, 4 * MIB, 9 * MIB, generator.randrange(1, 24 * MIB))))
        block.view()[::PAGE] = number % 251
        if number % 5 == 0:
            before = block.bytes
            block.grow(before + generator.randrange(1, 9 * MIB))
            block.view()[before::PAGE] = number % 251
        blocks[number] = block
        for owner, each in blocks.items():
            assert (each.view()[::PAGE] == owner % 251).all(), owner


def test_a_block_grows_where_it_lies_into_what_waits_behind_it() -> None:
    Block(MORE_THAN_WAITS).close()
    block = Block(MORE_THAN_WAITS - 8 * MIB)
    start = block.view().ctypes.data
    block.view()[::PAGE] = 7
    block.grow(MORE_THAN_WAITS)
    assert block.view().ctypes.data == start
    assert (block.view()[: MORE_THAN_WAITS - 8 * MIB : PAGE] == 7).all()


@pytest.mark.skipif(not MOVES_TOGETHER, reason="Linux moves what was mapped apart since 6.17")
def test_a_block_larger_than_any_that_waits_takes_over_the_pages_of_several() -> None:
    apart = [Block(16 * MIB) for _ in range(3)]
    for number, block in enumerate(apart, start=1):
        block.view()[:] = number
    apart[0].close()
    apart[2].close()
    larger = Block(MORE_THAN_WAITS)
    assert {1, 3} <= set(np.unique(larger.view()[::PAGE]))
    assert (apart[1].view() == 2).all()


@pytest.mark.skipif(not MOVES_TOGETHER, reason="Linux moves what was mapped apart since 6.17")
def test_a_block_grows_over_the_pages_of_several_if_enough_wait() -> None:
    apart = [Block(size * MIB) for size in (300, 16, 300)]
    for number, each in enumerate(apart, start=1):
        each.view()[::PAGE] = number
    block = Block(8 * MIB)
    block.view()[:] = 7
    apart[0].close()
    apart[2].close()
    block.grow(560 * MIB)
    assert (block.view()[: 8 * MIB] == 7).all()
    assert {1, 3} <= set(np.unique(block.view()[8 * MIB :: PAGE]))
    assert (apart[1].view()[::PAGE] == 2).all()
