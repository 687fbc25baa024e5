"""The released research code's behavior, exactly: what it decides, quirks and all.

The paper's rule and the code released with it differ (released code, not in the paper). The
presets ``released-web`` and ``released-text`` express what can be expressed as settings of
:mod:`jitrl.core`; this package is the yardstick beside them. It shares nothing with the core, so
that either can be checked against the other, and nothing in the library depends on it.

``python -m jitrl.compat FOLDER`` replays golden files: inputs with the outputs that the released
code produced.

Modules: ``urls`` and ``actions`` (keys of pages and actions), ``similarity``, ``returns``,
``values`` (V, Q, A and the choice), ``web`` and ``text`` (a whole decision on either side),
``replay`` (golden files).

Floats are summed left to right in plain loops: Python's ``sum`` is compensated from 3.12 on, and
here the last bit decides.
"""
