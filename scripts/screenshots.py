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
# Name, width and height of the window, dark or light, and the part of the page that is brought to its top.
PICTURES = (
    ("answer", 1080, 620, False, "main"),
    ("whatif", 1080, 820, False, "#whatif"),
    ("attributes", 1080, 820, True, "#attributes"),
    ("plane", 1080, 980, False, "#plane"),
    ("phone", 390, 780, False, "main"),
)

# A row of which the model is not quite sure.
ROW = "#.petal_length=5&.petal_width=1.7&.sepal_length=6.3&.sepal_width=2.8"


def main() -> None:
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("There is no chromium. On Debian: apt-get install chromium")
    record = likely.look(ROOT / "examples" / "iris.csv", "species", picture=True)
    text = page(record, command="likely look iris.csv species", version=likely.__version__, data="iris.csv")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "species.html"
        path.write_text(text, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        for name, width, height, dark, part in PICTURES:
            tab = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
            )
            tab.goto(path.as_uri() + (ROW if name == "whatif" else ""))
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
