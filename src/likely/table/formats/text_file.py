"""Which encoding a text file has, and its bytes as UTF-8. Knows bytes and characters, never rows or columns."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from likely.errors import EncodingError, InputError, SettingError, shown
from likely.table.formats.files import Place, TemporaryFile, file_errors

SAMPLE = 1 << 20
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LATIN = {"latin-1", "iso8859-1", "cp1252"}


def _as_control(error: UnicodeError) -> tuple[str, int]:
    # The five bytes that Windows-1252 leaves open are control characters, as in every browser: reading never fails.
    assert isinstance(error, UnicodeDecodeError)
    return "".join(map(chr, error.object[error.start : error.end])), error.end


codecs.register_error("likely-control", _as_control)


@dataclass
class TextFile:
    """A file as text: which bytes, in which encoding."""

    place: Place
    encoding: str
    _copy: TemporaryFile | None = field(default=None, repr=False)

    @property
    def plain(self) -> bool:
        """Whether the bytes are UTF-8 already, so that they can be parsed as they are."""
        return self.encoding in ("utf-8", "utf-8-sig")

    @property
    def cuttable(self) -> bool:
        """Whether a part of the text is a part of the file's bytes."""
        return self.plain and self.place.packed is None

    def stream(self) -> pa.NativeFile:
        """The text as a stream of UTF-8 bytes, without a byte order mark."""
        if not self.plain:
            return pa.OSFile(self.copied(), "rb")
        raw = self.place.stream()
        if self.encoding == "utf-8-sig":
            raw.read(3)
        return raw

    def copied(self) -> str:
        """The path of a copy in plain UTF-8, made once; it lives as long as this object.

        Recoding on the way would call Python from the parser's threads, and a program that ends in the middle of a
        sweep (an error will do) would hang: test_a_program_may_end_in_the_middle_of_a_sweep.
        """
        if self._copy is None:
            made, decoder = TemporaryFile(), self.decoder()
            made.hide()
            with file_errors(self.place.name), self.place.stream() as stream, open(made.path, "wb") as copy:
                more = True
                while more:
                    block = stream.read(SAMPLE)
                    more = bool(block)
                    try:
                        text = decoder.decode(block, not more)
                    except UnicodeDecodeError as error:
                        raise decoding_error(self) from error
                    copy.write((text if copy.tell() else text.removeprefix("\ufeff")).encode())
            self._copy = made
        return self._copy.path

    def decoder(self) -> codecs.IncrementalDecoder:
        return codecs.getincrementaldecoder(self.encoding)("likely-control" if self.encoding == "cp1252" else "strict")

    def head(self, size: int) -> tuple[str, bool]:
        """The first characters, and whether they are the whole text."""
        data, whole = self.place.head(size)
        if b"\0" in data and not self.encoding.startswith(("utf-16", "utf-32")):
            raise InputError(nul_sentence(self.place.name, data.count(b"\n", 0, data.index(b"\0")) + 1))
        try:
            return self.decoder().decode(data, whole).removeprefix("\ufeff"), whole
        except UnicodeDecodeError as error:
            raise decoding_error(self) from error


class TextBytes(TextFile):
    """Some bytes of a file as a text of their own, in UTF-8."""

    def __init__(self, place: Place, data: bytes) -> None:
        super().__init__(place, "utf-8")
        self._data = data

    def stream(self) -> pa.NativeFile:
        return pa.BufferReader(self._data)


def nul_sentence(name: str, line: int) -> str:
    return (
        f"Line {line:,} of {name} contains a NUL byte, so it is not plain text. "
        "Is it a binary file? If it is UTF-16 without a mark at its beginning, say encoding='utf-16-le' "
        "(--encoding utf-16-le)."
    )


def open_text(place: Place, encoding: str | None) -> tuple[TextFile, str | None]:
    """Decide the encoding (given, by mark, UTF-8 where the sample is valid, else Windows-1252); says so if unusual."""
    data, whole = place.head(SAMPLE)
    mark = next((name for bom, name in _BOMS if data.startswith(bom)), None)
    if encoding is not None:
        try:
            known = codecs.lookup(encoding).name
            "".encode(known)
        except LookupError as error:
            raise SettingError(f"There is no text encoding {shown(encoding)}. Try utf-8, latin-1 or utf-16.") from error
        if known == "utf-8" and mark == "utf-8-sig":
            known = "utf-8-sig"
        return TextFile(place, "cp1252" if known in _LATIN else known), None
    if mark is not None:
        note = f"Read as {mark.upper()}, by the mark at its beginning."
        return TextFile(place, mark), None if mark == "utf-8-sig" else note
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, whole)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        note = f"Read as latin-1 (Windows-1252) because line {line:,} is not valid UTF-8."
        return TextFile(place, "cp1252"), note
    return TextFile(place, "utf-8"), None


def decoding_error(text: TextFile) -> EncodingError:
    """The sentence for text that breaks its encoding: looks through the file for the line. The caller raises it."""
    decoder, lines, where, named = text.decoder(), 1, "", f"{text.place.name} is not valid {text.encoding.upper()}"
    with text.place.stream() as stream:
        while not where:
            block = stream.read(SAMPLE)
            try:
                lines += decoder.decode(block, not block).count("\n")
            except UnicodeDecodeError as error:
                wrong = error.object[error.start : error.start + 1].hex()
                upto = error.object[: error.start].decode(text.encoding, "replace").count("\n")
                where = f"Line {lines + upto:,} of {named} (byte 0x{wrong})"
            if not block:
                break
    remedy = "Say which encoding it has, for example encoding='latin-1' (--encoding latin-1)."
    return EncodingError(f"{where or named}. {remedy}")


def fill_buffer(stream: Any, buffer: memoryview) -> int:
    """Read until a buffer is full or the file ends; how many bytes there are."""
    filled = 0
    while filled < len(buffer):
        more = stream.readinto(buffer[filled:])
        if not more:
            break
        filled += more
    return filled
