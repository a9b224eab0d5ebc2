"""Takes the pictures of page and app that README and docs show: docs/images/*.png. Needs chromium and playwright.

python scripts/screenshots.py
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import likely
from likely.present.page.writing import page

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
# Name, table, width and height of the window, dark or light, and the part of the page that is brought to its top.
PICTURES = (
    ("answer", "penguins", 1080, 620, False, "main"),
    ("whatif", "penguins", 1080, 820, False, "#whatif"),
    ("attributes", "iris", 1080, 820, True, "#attributes"),
    ("plane", "iris", 1080, 980, False, "#plane"),
    ("phone", "penguins", 390, 780, False, "main"),
)
TARGETS = {"iris": "species", "penguins": "sex"}

# A row of which the model is not quite sure.
ROW = "#.species=Gentoo&.body_mass_g=5000&.bill_depth_mm=14.5&.bill_length_mm=46"


def main() -> None:
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("There is no chromium. On Debian: apt-get install chromium")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for table, target in TARGETS.items():
            record = likely.look(ROOT / "examples" / f"{table}.csv", target, picture=True)
            command = f"likely look {table}.csv {target}"
            text = page(record, command=command, version=likely.__version__, data=f"{table}.csv")
            Path(folder, f"{table}.html").write_text(text, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        for name, table, width, height, dark, part in PICTURES:
            tab = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
            )
            tab.goto(Path(folder, f"{table}.html").as_uri() + (ROW if name == "whatif" else ""))
            tab.locator("#w[data-done]").wait_for(state="attached")
            tab.locator(part).first.evaluate("(e) => scrollTo({ top: e.offsetTop - 12, behavior: 'instant' })")
            tab.wait_for_timeout(400)
            tab.screenshot(path=IMAGES / f"page-{name}.png")
            tab.close()
        take_app_pictures(browser)
        browser.close()


def take_app_pictures(browser: Any) -> None:
    """The app with a table open, before and after it was learned from."""
    command = [sys.executable, "-m", "likely", "app", "weather_mixed.csv", "iris.csv", "--no-open"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT / "examples")
    assert started.stdout is not None
    found = re.search(r"http://\S+", started.stdout.readline())
    assert found
    try:
        tab = browser.new_page(viewport={"width": 1080, "height": 700})
        tab.set_default_timeout(300_000)
        tab.goto(found[0])
        tab.wait_for_selector(".columns-table")
        tab.screenshot(path=IMAGES / "app-columns.png")
        tab.select_option("#target", "play")
        tab.click("#learn")
        tab.frame_locator("iframe").locator("h1").wait_for()
        tab.wait_for_timeout(400)
        tab.screenshot(path=IMAGES / "app-page.png")
        tab.close()
    finally:
        started.send_signal(signal.SIGINT)
        started.wait(30)


if __name__ == "__main__":
    main()
