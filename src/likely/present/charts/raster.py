"""A drawing as PNG. The one place that knows resvg, which reads SVG but not the variables of our style."""

from __future__ import annotations

import re

from likely.errors import InputError, SettingError

MOST_PIXELS = 16_384
"""Of a side."""


def to_png(svg: str, css: str, size: tuple[int, int] | None = None) -> bytes:
    """The drawing in this style, on its light ground; twice as large as it is on the page, or of this size."""
    try:
        import resvg_py
    except ImportError:
        raise SettingError(
            "PNG needs resvg-py, which is not installed. Install it: pip install 'likely[png]'."
        ) from None
    if size is not None and not all(1 <= side <= MOST_PIXELS for side in size):
        raise SettingError(f"A picture of {size[0]}×{size[1]} pixels is too large: {MOST_PIXELS:,} a side at most.")
    plain = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)
    if "xmlns=" not in plain.partition(">")[0]:
        plain = plain.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    head, _, body = plain.partition(">")
    styled, ground = f"{head}><style>{plain_style(css)}</style>{body}", _colours(css)["--paper"]
    try:
        if size is None:
            return bytes(resvg_py.svg_to_bytes(svg_string=styled, background=ground, zoom=2))
        return bytes(resvg_py.svg_to_bytes(svg_string=styled, background=ground, width=size[0], height=size[1]))
    except ValueError as error:
        raise InputError(f"The picture cannot be written as PNG: {error}") from None


def plain_style(css: str) -> str:
    """The style of charts, variables replaced by their values: a rule of the colour of a class becomes one for each."""
    colours, out = _colours(css), []
    for selectors, rule in re.findall(r"([^{}]+)\{([^{}]*)\}", _light(css)):
        if re.match(r"\s*--", rule):  # says which variable a class has
            continue
        for k in (name[3:] for name in colours if re.fullmatch(r"--k\d", name)) if "var(--k)" in rule else (None,):
            own = [s.strip() for s in selectors.split(",") if s.strip().startswith(".chart")]
            if k is not None:
                own = [re.sub(r"(\.[\w-]+)$", rf".k{k}\1", s) for s in own]
            said = rule.replace("var(--k)", colours.get(f"--k{k}", ""))
            for name, value in colours.items():
                said = said.replace(f"var({name})", value)
            if own:
                out.append(f"{', '.join(own)} {{{said}}}")
    return "\n".join(out)


def _light(css: str) -> str:
    """The style for a light ground, without what is said of dark ones."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}", "", css)


def _colours(css: str) -> dict[str, str]:
    root = re.search(r":root\s*\{([^}]*)\}", _light(css))
    assert root is not None
    return {name: value.strip() for name, value in re.findall(r"(--[\w-]+)\s*:\s*([^;]+)", root[1])}
