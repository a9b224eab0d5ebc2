"""ARFF, the format of Weka: a header that declares columns, then dense or sparse rows, all given as text.

Plain blocks go through Arrow's CSV parser; only blocks with escapes, comments or sparse rows are taken apart by line.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pyarrow as pa

from likely.errors import ColumnError, InputError, shown
from likely.table.formats.files import Place, file_errors
from likely.table.formats.text_file import TextFile, decoding_error, nul_sentence, open_text
from likely.table.source import Declaration, Source, check_names

BLOCK = 2 << 20
ROW_LIMIT = 64 << 20
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"{{][^\s{{]*)\s*(.*)", re.IGNORECASE | re.DOTALL)
_CELL = re.compile(rf"\s*({_QUOTED}|(?!['\"])[^,]*?)\s*(,|$)")
_LEVEL = re.compile(rf"\s*({_QUOTED}|[^,}}]*?)\s*(,|}})")
_SPARSE = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,}}]*?)\s*(,|}})")
_CODE = re.compile(rf"(?:{_QUOTED}|(?!\s%).)*", re.DOTALL)
_AROUND = re.compile(rb"[ \t][',\r\n]|[',\n][ \t]")
_EMPTY = re.compile(rb"^\r?\n", re.MULTILINE)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_KINDS: dict[str, Literal["number", "text", "date"]] = {
    "numeric": "number", "real": "number", "integer": "number", "string": "text", "date": "date",
}  # fmt: skip


def open_arff(place: Place, encoding: str | None) -> Source:
    """Open an ARFF file; only its header is read."""
    text, note = open_text(place, encoding)
    return ArffSource(text, (note,) if note else ())


class ArffSource(Source):
    """An ARFF file. A '?' without quotes is null; a quoted one is a level."""

    def __init__(self, text: TextFile, notes: tuple[str, ...]) -> None:
        self.name = text.place.name
        self._text = text
        self.declared, self._skip, self._lines = self._header()
        self.schema = pa.schema([pa.field(n, pa.string()) for n in self.declared])
        self.opening_notes = notes
        zeros: dict[str, str | None] = {"number": "0"}
        self._zeros = [d.levels[0] if d.levels else zeros.get(d.kind) for d in self.declared.values()]

    def reopen(self, encoding: str) -> Source:
        return open_arff(self._text.place, encoding)

    def _header(self) -> tuple[dict[str, Declaration], int, int]:
        declared: list[tuple[str, Declaration]] = []
        pending, start = "", 0
        used = number = 0
        for number, line in enumerate(self._header_lines(), 1):
            used += len(line.encode())
            entry = _without_comment(line.strip()).strip()
            if not pending and not entry:
                continue
            keyword = entry.split(None, 1)[0].lower() if entry else ""
            if not pending and keyword == "@data":
                if not declared:
                    raise InputError(f"{self.name} has no @attribute before its @data. It needs one line per column.")
                check_names(self.name, tuple(n for n, _ in declared))
                return dict(declared), used, number
            if pending or keyword == "@attribute":
                start = start if pending else number
                pending = f"{pending}\n{entry}" if pending else entry
                if _is_open(pending):
                    continue  # a list of levels may go on over several lines
                declared.append(self._attribute(pending, start))
                pending = ""
            elif keyword != "@relation":
                raise InputError(
                    f"Line {number:,} of {self.name} is {shown(entry)}, which is no @relation, @attribute or @data. "
                    "Correct it, or put % before a comment."
                )
        if pending:
            raise InputError(f"The @attribute on line {start:,} of {self.name} has no closing brace. Close it.")
        raise InputError(f"{self.name} has no @data line, so it is not a whole ARFF file. Fetch or write it again.")

    def _header_lines(self) -> Iterator[str]:
        rest = b""
        for block in self._blocks(0):
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            for line in lines:
                yield self._decoded(line + b"\n")
        if rest:
            yield self._decoded(rest)

    def _decoded(self, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            raise decoding_error(self._text) from error

    def _attribute(self, entry: str, line: int) -> tuple[str, Declaration]:
        match = _ATTRIBUTE.match(entry)
        if not match or not match[2]:
            raise InputError(
                f"Line {line:,} of {self.name} is not an attribute: {shown(entry)}. "
                "Write @attribute 'its name' numeric, or its levels in braces."
            )
        name, kind = _unquoted(match[1]).strip(), match[2].strip()
        if kind.startswith("{"):
            return name, Declaration("nominal", _levels(kind[1:]))
        word = kind.split(None, 1)[0].lower()
        if word not in _KINDS:
            raise ColumnError(
                f"The attribute {shown(name)} on line {line:,} of {self.name} has the type {shown(kind)}. "
                "It must be numeric, string, date, or a list of levels in braces."
            )
        return name, Declaration(_KINDS[word])

    def _blocks(self, skip: int) -> Iterator[bytes]:
        """The text after the header as UTF-8, in blocks of any length."""
        with file_errors(self.name), self._text.stream() as stream:
            stream.read(skip)
            while block := stream.read(BLOCK):
                yield block

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.resolve_columns(columns)
        rest, line = b"", self._lines
        for block in self._blocks(self._skip):
            cut = block.rfind(b"\n") + 1
            if not cut:
                rest += block
                if len(rest) > ROW_LIMIT:
                    raise InputError(
                        f"Line {line + 1:,} of {self.name} is longer than {ROW_LIMIT >> 20} MB. Is it an ARFF file?"
                    )
                continue
            whole, rest = rest + block[:cut], block[cut:]
            yield from self._batch(whole, line, names)
            line += whole.count(b"\n")
        if rest.strip():
            yield from self._batch(rest, line, names)

    def _batch(self, block: bytes, line: int, names: list[str]) -> Iterator[pa.RecordBatch]:
        if b"\0" in block:
            raise InputError(nul_sentence(self.name, line + block.count(b"\n", 0, block.index(b"\0")) + 1))
        table = self._parsed(block) if _is_simple(block) else None
        if table is None:
            table = self._taken_apart(block, line)
        if table.num_rows:
            yield table.select(names)

    def _parsed(self, block: bytes) -> pa.RecordBatch | None:
        """The fast way: Arrow's parser; None where it stumbles, so that the slow way can say where."""
        import pyarrow.csv as pc

        every = list(self.declared)
        quoted = b"'" in block
        try:
            # Arrow would take U+FEFF that begins a block for a byte order mark.
            text: Any = pa.BufferReader(b"\n" + block if block.startswith(BOM_UTF8) else block)
            table = pc.read_csv(
                text,
                pc.ReadOptions(column_names=every, block_size=len(block) + 2),
                pc.ParseOptions(quote_char="'" if quoted else False, double_quote=False),
                pc.ConvertOptions(
                    column_types=dict.fromkeys(every, pa.string()),
                    null_values=["?"],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            return None
        batch = table.combine_chunks().to_batches()
        if not batch or (quoted and batch[0].num_rows != _count_lines(block)):
            return None  # a quote that is not closed has swallowed a line's end
        if not quoted and (b" " in block or b"\t" in block):
            return pa.RecordBatch.from_arrays([_trimmed(column) for column in batch[0].columns], names=every)
        return batch[0]

    def _taken_apart(self, block: bytes, line: int) -> pa.RecordBatch:
        """The slow way, line by line: quotes, escapes, comments, sparse rows, and the sentences for what is wrong."""
        rows = []
        for number, entry in enumerate(self._decoded(block).split("\n"), line + 1):
            entry = _without_comment(entry.strip()).strip()
            if entry:
                rows.append(self._sparse(entry, number) if entry.startswith("{") else self._dense(entry, number))
        columns = zip(*rows, strict=True) if rows else ([] for _ in self.declared)
        return pa.RecordBatch.from_arrays([pa.array(c, pa.string()) for c in columns], names=list(self.declared))

    def _dense(self, entry: str, line: int) -> list[str | None]:
        words: list[str] = []
        at, more = 0, True
        while more:
            match = _CELL.match(entry, at)
            if not match:
                raise InputError(
                    f"Line {line:,} of {self.name} has a quote that is not closed, or text after one. "
                    "Correct it; a quote inside a text needs a backslash before it."
                )
            words.append(match[1])
            at, more = match.end(), match[2] == ","
        if len(words) == 1 < len(self.declared):
            words = re.findall(rf"{_QUOTED}|\S+", entry)  # blanks separate cells where no comma does
        if len(words) != len(self.declared):
            self._ragged(len(words), line)
        return [_value(word) for word in words]

    def _sparse(self, entry: str, line: int) -> list[str | None]:
        """`{1 a, 3 5}`: what is not named is zero, or the first level."""
        row = list(self._zeros)
        at = 1
        while entry[at:].strip() != "}":
            match = _SPARSE.match(entry, at)
            if not match or int(match[1]) >= len(row):
                raise InputError(
                    f"Line {line:,} of {self.name} is no sparse row: {shown(entry)}. "
                    f"Write {{index value, …}} with indexes from 0 to {len(row) - 1}."
                )
            row[int(match[1])] = _value(match[2])
            at = match.end()
            if match[3] == "}":
                break
        if entry[at:].strip(" }"):
            raise InputError(f"Line {line:,} of {self.name} has text after its sparse row. Take it off.")
        return row

    def _ragged(self, cells: int, line: int) -> None:
        count = "1 cell" if cells == 1 else f"{cells:,} cells"
        raise InputError(
            f"Line {line:,} of {self.name} has {count} where {len(self.declared):,} attributes are declared. "
            "Correct the line; a cell with a comma needs quotes around it."
        )


def _trimmed(column: Any) -> Any:
    import pyarrow.compute

    compute: Any = pyarrow.compute
    cells = compute.utf8_trim_whitespace(column)
    return compute.if_else(compute.equal(cells, "?"), None, cells)


def _is_simple(block: bytes) -> bool:
    """Whether Arrow's parser reads the block as this format means it."""
    if any(mark in block for mark in (b'"', b"\\", b"{", b"%")):
        return False
    return b"'" not in block or not _AROUND.search(block)


def _count_lines(block: bytes) -> int:
    return block.count(b"\n") + (not block.endswith(b"\n")) - len(_EMPTY.findall(block))


def _is_open(entry: str) -> bool:
    bare = re.sub(_QUOTED, "", entry)
    return "{" in bare and "}" not in bare


def _without_comment(entry: str) -> str:
    """A comment starts at the line's beginning or after a blank; so 50% stays a cell."""
    if "%" not in entry:
        return entry
    match = _CODE.match(entry)
    return match[0] if match and not entry.startswith("%") else ""


def _unquoted(word: str) -> str:
    if word[:1] not in ("'", '"'):
        return word
    return _ESCAPE.sub(lambda m: chr(int(m[1][1:], 16)) if len(m[1]) > 1 else _ESCAPED.get(m[1], m[1]), word[1:-1])


def _value(word: str) -> str | None:
    return None if word == "?" else _unquoted(word)


def _levels(text: str) -> tuple[str, ...]:
    levels: dict[str, None] = {}
    at = 0
    while match := _LEVEL.match(text, at):
        if match[1]:
            levels[_unquoted(match[1])] = None
        at = match.end()
        if match[2] == "}":
            break
    return tuple(levels)
