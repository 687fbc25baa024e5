"""Which MiniWoB++ tasks can be done by clicking, typing and selecting, and why others cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of task.

    Attributes:
        reads: Whether the text to type stands on the page, not in the goal.
        values: What may be typed beside that.
        cases: Whether values may be wanted in upper or lower case.
    """

    reads: bool = False
    values: tuple[str, ...] = ()
    cases: bool = False


_PLAIN = """
ascending-numbers book-flight book-flight-nodelay buy-ticket choose-date choose-date-easy
choose-date-medium choose-date-nodelay choose-list click-button click-button-sequence
click-checkboxes click-checkboxes-large click-checkboxes-soft click-checkboxes-transfer
click-collapsible click-collapsible-2 click-collapsible-2-nodelay click-collapsible-nodelay
click-color click-dialog click-dialog-2 click-link click-menu click-menu-2 click-option click-pie
click-pie-nodelay click-scroll-list click-shades click-shape click-tab click-tab-2 click-tab-2-easy
click-tab-2-hard click-tab-2-medium click-test click-test-2 click-test-transfer click-widget
count-shape count-sides email-inbox email-inbox-delete email-inbox-forward email-inbox-forward-nl
email-inbox-forward-nl-turk email-inbox-important email-inbox-nl-turk email-inbox-noscroll
email-inbox-reply email-inbox-star-reply enter-date enter-password enter-text enter-text-dynamic
enter-time find-greatest focus-text focus-text-2 form-sequence-2 form-sequence-3 generate-number
grid-coordinate identify-shape login-user login-user-popup multi-layouts multi-orderings
navigate-tree number-checkboxes odd-or-even order-food phone-book search-engine social-media
social-media-all social-media-some tic-tac-toe unicode-test use-autocomplete
use-autocomplete-nodelay use-spinner
"""
_READING = "copy-paste copy-paste-2 find-word read-table read-table-2 scroll-text text-transform"

KINDS: Mapping[str, Kind] = {
    **{kind: Kind() for kind in _PLAIN.split()},
    **{kind: Kind(reads=True) for kind in _READING.split()},
    "enter-text-2": Kind(cases=True),
    "guess-number": Kind(values=tuple("0123456789")),
}
"""The kinds that are offered."""

_REASONS = {
    "needs dragging": "daily-calendar drag-box drag-circle drag-cube drag-items drag-items-grid "
    "drag-shapes drag-shapes-2 drag-single-shape drag-sort-numbers form-sequence resize-textarea "
    "use-colorwheel use-colorwheel-2 use-slider use-slider-2",
    "needs drawing or a point that is no element": "bisect-angle circle-center draw-circle "
    "draw-line find-midpoint right-angle",
    "needs the pointer in motion": "chase-circle hot-cold hover-shape moving-items",
    "is about timing": "button-delay simon-says stock-market",
    "needs text to be marked or scrolled": "highlight-text highlight-text-2 scroll-text-2 "
    "sign-agreement text-editor",
    "wants an answer that must be worked out": "simple-algebra simple-arithmetic visual-addition",
    "wants commands": "terminal",
}
LEFT_OUT: Mapping[str, str] = {
    kind: why for why, kinds in _REASONS.items() for kind in kinds.split()
}
"""The other kinds of the package, and why each of them cannot be done here."""
