"""Workbooks made by two libraries, read by a third: types, sheets, formulas, and what no table can be."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
import xlsxwriter
from table.reading import open_source, rows

import likely
from likely.errors import InputError


def made(path: Path, fill: Callable[[Any], object]) -> Path:
    with xlsxwriter.Workbook(path) as book:
        fill(book)
    return path


def fill_two(book: Any) -> None:
    book.add_worksheet("empty")
    one, two = book.add_worksheet("one"), book.add_worksheet("two, too")
    one.write_column(0, 0, ["a", 1, 2.5])
    two.write_column(0, 0, ["b", "x", "y"])


def test_the_first_sheet_with_rows_is_read_and_told(tmp_path: Path) -> None:
    path = made(tmp_path / "t.xlsx", fill_two)
    source = open_source(path)
    assert rows(path) == [{"a": 1.0}, {"a": 2.5}]
    assert source.notes == (
        "Read from the sheet 'one'. The workbook also has 'empty', 'two, too': --sheet NAME reads another.",
    )
    assert rows(path, sheet="two, too") == rows(path / "two, too") == [{"b": "x"}, {"b": "y"}]
    with pytest.raises(InputError, match=r"t.xlsx has no sheet 'tow'. It has 'empty', 'one', 'two, too'."):
        rows(path, sheet="tow")
    with pytest.raises(InputError, match=r"has no rows below its header"):
        rows(path, sheet="empty")


def test_the_command_line_and_python_name_a_sheet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1, 2, 3, 4] * 10, "y": ["a", "a", "b", "b"] * 10})
    with pd.ExcelWriter(tmp_path / "t.xlsx", engine="openpyxl") as writer:
        pd.DataFrame({"note": ["hello"]}).to_excel(writer, sheet_name="notes", index=False)
        frame.to_excel(writer, sheet_name="rows", index=False)
    frame.to_csv(tmp_path / "t.csv", index=False)
    wanted = likely.summarize(tmp_path / "t.csv", "y")
    assert likely.summarize(tmp_path / "t.xlsx", "y", sheet="rows").classes == wanted.classes
    model = likely.fit(tmp_path / "t.xlsx", "y", likely.NaiveBayes(), sheet="rows")
    assert [str(c) for c in model.predict(str(tmp_path / "t.xlsx" / "rows"))] == frame["y"].tolist()
    command = [sys.executable, "-m", "likely", "look"]
    found = subprocess.run(
        [*command, tmp_path / "t.xlsx", "y", "--sheet", "rows"], capture_output=True, text=True, cwd=tmp_path
    )
    assert found.returncode == 0, found.stderr
    wrong = subprocess.run(
        [*command, tmp_path / "t.csv", "y", "--sheet", "rows"], capture_output=True, text=True, cwd=tmp_path
    )
    assert wrong.returncode == 2 and "is not a workbook, so it has no sheet 'rows'" in wrong.stderr


def test_cells_keep_their_types(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        day, share = book.add_format({"num_format": "yyyy-mm-dd"}), book.add_format({"num_format": "0.0%"})
        sheet = book.add_worksheet()
        sheet.write_row(3, 2, ["number", "flag", "day", "moment", "share", "mixed", ""])
        sheet.write_row(4, 2, [1, True])
        sheet.write_datetime(4, 4, datetime(2020, 1, 2), day)
        sheet.write_datetime(4, 5, datetime(2020, 1, 2, 3, 4), day)
        sheet.write_number(4, 6, 0.121, share)
        sheet.write_row(4, 7, [5, "z"])
        sheet.write_row(6, 2, [2.5, False])
        sheet.write_datetime(6, 4, datetime(2021, 1, 2), day)
        sheet.write_datetime(6, 5, datetime(2021, 1, 2), day)
        sheet.write_row(6, 7, ["five", "z"])

    assert rows(made(tmp_path / "t.xlsx", fill)) == [
        {"number": 1.0, "flag": True, "day": date(2020, 1, 2), "moment": datetime(2020, 1, 2, 3, 4), "share": 0.121,
         "mixed": "5", "column 7": "z"},
        {"number": 2.5, "flag": False, "day": date(2021, 1, 2), "moment": datetime(2021, 1, 2), "share": None,
         "mixed": "five", "column 7": "z"},
    ]  # fmt: skip


def test_formulas_are_what_they_last_came_to_and_errors_are_missing(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["a", "b"])
        sheet.write_formula(1, 0, "=1+1", None, 2)
        sheet.write_formula(1, 1, "=1/0", None, "#DIV/0!")
        sheet.write_row(2, 0, [3, 4])

    assert rows(made(tmp_path / "t.xlsx", fill)) == [{"a": 2.0, "b": None}, {"a": 3.0, "b": 4.0}]


def test_a_merged_header_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Results of 2024", None])
    sheet.merge_cells("A1:B1")
    sheet.append(["a", "b"])
    sheet.append([1, 2])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="begins with merged cells"):
        open_source(tmp_path / "t.xlsx")


def test_a_doubled_name_and_a_header_alone_are_refused(tmp_path: Path) -> None:
    doubled = made(tmp_path / "d.xlsx", lambda b: b.add_worksheet().write_column(0, 0, ["a"]))
    with pytest.raises(InputError, match="no rows below its header"):
        open_source(doubled)

    def twice(book: Any) -> None:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["a", "a"])
        sheet.write_row(1, 0, [1, 2])

    with pytest.raises(likely.errors.ColumnError, match="more than once: 'a'"):
        open_source(made(tmp_path / "t.xlsx", twice))


def test_a_workbook_without_rows_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sheet with rows"):
        open_source(made(tmp_path / "t.xlsx", lambda book: book.add_worksheet()))


@pytest.mark.parametrize("cut", [100, 1000, -40])
def test_a_truncated_workbook_is_a_sentence(tmp_path: Path, cut: int) -> None:
    path = made(tmp_path / "t.xlsx", fill_two)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"t.xlsx is not a sound workbook"):
        open_source(path)


def test_names_that_lie(tmp_path: Path) -> None:
    for name in ("t.xls", "t.xlsx", "t.ods"):
        (tmp_path / name).write_text("a,b\n1,2\n")
        with pytest.raises(InputError, match="named like a workbook, but is not one"):
            open_source(tmp_path / name)
    made(tmp_path / "t.xlsx", fill_two).rename(tmp_path / "t.csv")
    assert rows(tmp_path / "t.csv") == [{"a": 1.0}, {"a": 2.5}]


def test_a_folder_of_workbooks_is_one_table(tmp_path: Path) -> None:
    for name in ("a.xlsx", "b.xlsx"):
        made(tmp_path / name, fill_two)
    assert rows(tmp_path, sheet="two, too") == [{"b": "x"}, {"b": "y"}] * 2


def test_without_the_library_the_extra_is_named(tmp_path: Path) -> None:
    path = made(tmp_path / "t.xlsx", fill_two)
    code = (
        "import sys; sys.modules['python_calamine'] = None\n"
        "import likely\n"
        f"try: likely.summarize({str(path)!r})\nexcept Exception as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.startswith("t.xlsx is a workbook. To read it, install the extra: pip install 'likely[excel]'")


# -- sheets that reach far: refused before anything makes room for them ------------------------------------------


def repacked(path: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    """The same workbook with one part changed."""
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, data in parts.items():
            book.writestr(name, change(data) if name == part else data)
    return path


def small(path: Path) -> Path:
    frame = pd.DataFrame({"x": [1.5, 2.0, 3.0], "y": ["a", "b", "b"]})
    frame.to_excel(path, index=False)
    return path


def test_one_cell_far_away_does_not_end_the_process(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        sheet = book.add_worksheet("s")
        sheet.write(0, 0, "a")
        sheet.write(1_048_575, 16_383, 1)

    path = made(tmp_path / "far.xlsx", fill)
    assert path.stat().st_size < 10_000
    with pytest.raises(InputError, match=r"far.xlsx has a sheet that spans 1,048,576 rows and 16,384 columns"):
        open_source(path)


@pytest.mark.parametrize("said", [' r="%d"', ""], ids=["with places", "without"])
def test_more_rows_than_a_spreadsheet_holds_are_refused(tmp_path: Path, said: str) -> None:
    def grow(xml: bytes) -> bytes:
        begin, end = xml.index(b"<sheetData>") + 11, xml.index(b"</sheetData>")
        more = b"".join(
            (f"<row{said}><c><v>1</v></c></row>" % ((k,) if said else ())).encode() for k in range(2, 1_100_000)
        )
        return xml[:begin] + xml[begin:end][: xml[begin:end].index(b"</row>") + 6] + more + xml[end:]

    path = repacked(small(tmp_path / "long.xlsx"), "xl/worksheets/sheet1.xml", grow)
    with pytest.raises(InputError, match=r"long.xlsx has a cell in row 1,0\d\d,\d\d\d .* beyond the 1,048,576 rows"):
        open_source(path)


def test_repeated_rows_of_ods_are_counted_and_empty_ones_at_the_end_are_not(tmp_path: Path) -> None:
    row = "<table:table-row{0}><table:table-cell{1} office:value-type='float' office:value='1'/></table:table-row>"
    empty = "<table:table-row table:number-rows-repeated='1048570'><table:table-cell/></table:table-row>"

    def book(name: str, body: str) -> Path:
        names = " ".join(
            f"xmlns:{n}='urn:oasis:names:tc:opendocument:xmlns:{n}:1.0'" for n in ("office", "table", "text")
        )
        xml = (
            f"<?xml version='1.0'?><office:document-content {names}><office:body><office:spreadsheet>"
            "<table:table table:name='s'><table:table-row><table:table-cell office:value-type='string'>"
            f"<text:p>a</text:p></table:table-cell></table:table-row>{body}</table:table></office:spreadsheet></office:body>"
            "</office:document-content>"
        )
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            manifest = "<manifest:manifest xmlns:manifest='urn:oasis:names:tc:opendocument:xmlns:manifest:1.0'/>"
            made.writestr("META-INF/manifest.xml", manifest)
            made.writestr("content.xml", xml)
        return path

    assert rows(book("fine.ods", row.format("", "") * 3 + empty)) == [{"a": 1.0}] * 3
    with pytest.raises(InputError, match="beyond the 1,048,576 rows"):
        open_source(book("long.ods", row.format(" table:number-rows-repeated='2000000'", "")))
    with pytest.raises(InputError, match="columns"):
        open_source(book("wide.ods", row.format("", " table:number-columns-repeated='90000'")))


def fill_titled(book: Any) -> None:
    book.add_worksheet("cover").write_row(0, 0, ["only", "a header"])
    sheet = book.add_worksheet("rows")
    sheet.merge_range("A2:B2", "Penguin survey 2009")
    sheet.write_column(3, 0, ["sky", "sun", "rain"])
    sheet.write_column(3, 1, ["play", "y", "n"])


def test_the_row_of_the_header_may_be_named_and_a_sheet_without_rows_is_passed_over(tmp_path: Path) -> None:
    path = made(tmp_path / "t.xlsx", fill_titled)
    with pytest.raises(InputError, match=r"merged cells.*header_row=2\."):
        open_source(path)
    assert rows(path, header_row=4) == rows(path, header_row=3) == [{"sky": "sun", "play": "y"},
                                                                    {"sky": "rain", "play": "n"}]  # fmt: skip
    assert open_source(path, header_row=4).notes[0].startswith("Read from the sheet 'rows'.")
    with pytest.raises(InputError, match=r"no rows below its header. Name another: sheet='NAME', header_row=2\."):
        open_source(path, sheet="cover")
    with pytest.raises(InputError, match="no rows below its header"):
        open_source(path, header_row=40)
