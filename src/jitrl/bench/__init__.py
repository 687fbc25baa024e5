"""Measurements of this package: each folder is a subject, and what they share lies beside them.

``learning``: the same task again and again. ``transfer``: first attempts with a memory of other
tasks. ``judge``: rewards from judges that err. ``rules``: what a rulebook is worth. ``credit``:
which steps were decisive. ``speed``: what search, decisions, the store and the embedded model cost.
``paper``: its printed figures beside runs of one's own. ``choices``: arms for comparisons.
``webarena``: scores of finished web tasks.
"""
