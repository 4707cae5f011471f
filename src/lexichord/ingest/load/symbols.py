"""What the signs of symbol fonts are in Unicode, by the numbers that these fonts give them."""

from collections.abc import Mapping
from types import MappingProxyType

PRIVATE = range(0xF000, 0xF100)  # where files put the numbers of symbol fonts
UNICODE_FROM = 0x100  # what is beyond is Unicode's own number

_ADOBE = {  # Adobe's encoding of Symbol, by the first number of each row
    0x20: " !∀#∃%&∋()\u2217+,\u2212./0123456789:;<=>?",
    0x40: "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_",
    0x60: "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}\u223c",
    0xA0: "€ϒ\u2032≤\u2044∞ƒ♣♦♥♠↔←↑→↓°±″≥\u00d7∝∂•÷≠≡≈…⏐⎯↵",  # noqa: RUF001
    0xC0: "\u2135\u2111\u211c℘⊗⊕∅∩\u222a⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬\u2227\u2228⇔⇐⇑⇒⇓",
    0xE0: "◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪",
    0xF1: "⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
}
_WINGDINGS = {
    **{0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x45: "☜", 0x46: "☞", 0x47: "☝", 0x4A: "☺", 0x4C: "☹"},
    **{0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x70: "☐", 0x71: "❑", 0x72: "❒", 0x75: "◆", 0x76: "❖"},
    **{0x78: "☒", 0x80: "⓪", **{0x81 + place: chr(0x2460 + place) for place in range(10)}},
    **{0x8C + place: chr(0x2776 + place) for place in range(10)},
    **{0x9E: "·", 0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "☐", 0xAB: "★", 0xD8: "➢"},
    **{0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨"},
    **{0xF1: "⇧", 0xF2: "⇩", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
}
FONTS: Mapping[str, Mapping[int, str]] = MappingProxyType(
    {
        "symbol": {
            first + place: sign for first, row in _ADOBE.items() for place, sign in enumerate(row)
        },
        "wingdings": _WINGDINGS,
        "wingdings 2": {
            **{0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"},
        },
        "webdings": {0x61: "✓", 0x72: "✗"},
    }
)


def symbol(font: str, number: int) -> str | None:
    """Return what a sign of a font is in Unicode; None where that is not known."""
    signs = FONTS.get(font.strip().lower())
    own = number & 0xFF if number in PRIVATE else number
    if signs is not None and own < UNICODE_FROM:
        return signs.get(own)
    known = number not in PRIVATE and 0x20 <= number <= 0xFFFF and chr(number).isprintable()
    return chr(number) if known else None
