"""Blocks of 64 bytes for kernels: a few instructions on whole registers of the processor, as LLVM has them for any.

Knows ASCII, and bits: bit k of a block's answer is for its byte number k. The caller sees to it that a block is there.
"""

from __future__ import annotations

from typing import Any, cast

from likely.machinery.native.inner import Inner

BLOCK = 64
"""Bytes of a block."""


class _Block(Inner):
    """A step over the block of an array that begins at a byte: `_write` says it to LLVM."""

    def compiled(self) -> Any:
        if self._compiled is None:
            from numba.core import types
            from numba.extending import intrinsic

            build = self._write
            if self.arrays == 1:

                @intrinsic
                def instruction(typing: Any, one: Any, at: Any) -> Any:
                    return types.uint64(one, types.uint64), build
            else:

                @intrinsic
                def instruction(typing: Any, one: Any, at: Any, two: Any, to: Any) -> Any:
                    return types.uint64(one, types.uint64, two, types.uint64), build

            self._compiled = instruction
        return self._compiled

    arrays = 1
    """Two where it also writes to one."""

    def _write(self, context: Any, builder: Any, signature: Any, args: Any) -> Any:
        raise NotImplementedError


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Where the block of an array of bytes begins."""
    from llvmlite import ir

    data = context.make_array(kind)(context, builder, array).data
    byte = builder.gep(builder.bitcast(data, ir.IntType(8).as_pointer()), [at])
    return builder.bitcast(byte, ir.VectorType(ir.IntType(8), BLOCK).as_pointer())


def _load(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    block = builder.load(_pointer(context, builder, kind, array, at))
    block.align = 1
    return block


def _all(value: int) -> Any:
    """A block of equal bytes."""
    from llvmlite import ir

    return ir.Constant(ir.VectorType(ir.IntType(8), BLOCK), [value] * BLOCK)


def _bits(builder: Any, truths: Any) -> Any:
    from llvmlite import ir

    return builder.bitcast(truths, ir.IntType(BLOCK))


class _Nonzero(_Block):
    def _write(self, context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = _load(context, builder, signature.args[0], *args)
        return _bits(builder, builder.icmp_unsigned("!=", block, _all(0)))


class _Blank(_Block):
    def _write(self, context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = _load(context, builder, signature.args[0], *args)
        return _bits(
            builder, builder.or_(builder.icmp_unsigned("==", block, _all(32)), _among(builder, block, "\t", 5))
        )


def _among(builder: Any, block: Any, first: str, count: int) -> Any:
    """Whether bytes are among so many, from the first one on."""
    return builder.icmp_unsigned("<", builder.sub(block, _all(ord(first))), _all(count))


class _Lower(_Block):
    arrays = 2

    def _write(self, context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = _load(context, builder, signature.args[0], args[0], args[1])

        capital = _among(builder, block, "A", 26)
        small = builder.select(capital, builder.or_(block, _all(32)), block)
        word = builder.or_(_among(builder, small, "a", 26), _among(builder, block, "0", 10))
        word = builder.or_(word, builder.icmp_unsigned("==", block, _all(ord("_"))))
        store = builder.store(
            builder.select(word, small, _all(0)), _pointer(context, builder, signature.args[2], args[2], args[3])
        )
        store.align = 1
        return _bits(builder, builder.icmp_unsigned(">", block, _all(127)))


def _nonzero(data: Any, at: int) -> int:
    return sum(int(data[at + k] != 0) << k for k in range(BLOCK))


def _blank(data: Any, at: int) -> int:
    return sum(int(data[at + k] in b" \t\n\v\f\r") << k for k in range(BLOCK))


def _lower(data: Any, at: int, low: Any, to: int) -> int:
    beyond = 0
    for k in range(BLOCK):
        letter = chr(data[at + k])
        low[to + k] = ord(letter.lower()) if letter.isascii() and (letter.isalnum() or letter == "_") else 0
        beyond |= int(data[at + k] > 127) << k
    return beyond


nonzero_bits: Any = _Nonzero(cast(Any, _nonzero))
"""For kernels: nonzero_bits(data, at) has a bit for each of the 64 bytes from `at` on that is not 0."""
blank_bits: Any = _Blank(cast(Any, _blank))
"""For kernels: blank_bits(data, at) has a bit for each of the 64 bytes from `at` on that is a blank of ASCII."""
lower_block: Any = _Lower(cast(Any, _lower))
"""For kernels: lower_block(data, at, low, to) writes the small form of 64 bytes, 0 where one is not of a word, and
answers with a bit for each byte beyond ASCII (for which it writes 0)."""
