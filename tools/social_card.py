"""Draw the picture that other sites show beside a link to this one.

    python -m tools.social_card

Writes `src/fullgraph/site/assets/card.png`. Needs Chromium and the packages of the tests; the
picture has no text that changes with a release, so it is drawn once and committed.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

CARD = Path(__file__).parent.parent / "src/fullgraph/site/assets/card.png"
WIDTH, HEIGHT = 1200, 630
_LINES = (
    ("graph 1", "g1", "y = torch.relu(x)"),
    ("eager", "eager", 'print("largest:", y.max())'),
    ("graph 2", "g2", "return y * 2"),
)
_PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; width: {width}px; height: {height}px; background: #17181b; color: #e8e5e0;
  font: 34px/1.4 "DejaVu Sans", sans-serif; box-sizing: border-box; padding: 104px 72px; }}
h1 {{ font-size: 76px; line-height: 1.1; margin: 0 0 18px; font-weight: 700; }}
p {{ margin: 0 0 40px; color: #c9c4bb; }}
div {{ font: 33px/1.9 "DejaVu Sans Mono", monospace; padding: 0 24px;
  border-left: 10px solid #34373d; background: #1e2024; white-space: pre; }}
i {{ font-style: normal; color: #a5a099; }}
.g1 {{ border-color: #7dd3a8; }}
.g2 {{ border-color: #9dc1ff; }}
.eager {{ border-color: #ff9c8c; background: #3b201d; }}
</style><h1>Graph breaks</h1>
<p>Why torch.compile stops, and code that does not.</p>{lines}
"""


def main() -> None:
    """Draw the picture."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("there is no chromium on the PATH; install it")
    lines = "".join(
        f'<div class="{kind}"><i>{label:>8}</i>  {code}</div>' for label, kind, code in _LINES
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_content(_PAGE.format(width=WIDTH, height=HEIGHT, lines=lines))
        page.screenshot(path=CARD)
        browser.close()
    print(f"{CARD}: {CARD.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
