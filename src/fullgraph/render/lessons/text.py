"""The list of lessons for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from fullgraph.guide.lesson import Lesson
from fullgraph.render._lines import joined
from fullgraph.terminal import Terminal


def render(
    lessons: Sequence[Lesson],
    *,
    width: int = 80,
    color: bool = False,
    is_terminal: bool = False,
    **_: object,
) -> str:
    """Return one line per lesson."""
    terminal = Terminal(width, color, cut=is_terminal)
    widest = max(len(each.id) for each in lessons)
    minutes = sum(each.minutes for each in lessons)
    return joined(
        [
            f"{len(lessons)} lessons about torch.compile, {minutes} minutes in all:",
            "",
            *(
                terminal.clipped(
                    f"{each.number:>3}  {each.id:<{widest}}  {each.minutes:>2} min  {each.title}"
                )
                for each in lessons
            ),
            "",
            f"fullgraph learn {lessons[0].id} shows a lesson, --run runs its code, --quiz asks.",
        ]
    )
