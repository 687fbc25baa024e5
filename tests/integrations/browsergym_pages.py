"""Accessibility trees as BrowserGym 0.14.3 flattened them, and a small environment of its shape."""

CLICK_BUTTON = """\
RootWebArea 'Click Button Task', focused, url='file:///miniwob/click-button.html'
\t[12] button 'submit', clickable
\t\tInlineTextBox 'submit'
\tInlineTextBox ''
\tStaticText 'imperdiet quis posuere'
\t\tInlineTextBox 'imperdiet quis posuere'
\t[16] textbox '', clickable
\tInlineTextBox ''
\t[18] button 'cancel', clickable
\t\tInlineTextBox 'cancel'
\tInlineTextBox ''"""

CHOOSE_LIST = """\
RootWebArea 'Choose List Task', focused, url='file:///miniwob/choose-list.html'
\t[13] combobox '' value='Kazakhstan', hasPopup='menu', expanded=False
\t\tMenuListPopup ''
\t\t\t[14] option 'Kazakhstan', selected=True
\t\t\t[15] option 'Norfolk Island', selected=False
\t\t\t[16] option "Côte d'Ivoire", selected=False
\t[21] button 'Submit', clickable
\t\tInlineTextBox 'Submit'"""

CHECKBOXES = """\
RootWebArea 'Click Checkboxes Task', focused, url='file:///miniwob/click-checkboxes.html'
\t[17] LabelText ''
\t\t[18] checkbox 'Jc', checked='false'
\t\tStaticText 'Jc'
\t\t\tInlineTextBox 'Jc'
\t[20] LabelText '', clickable
\t\t[21] checkbox 's6WcI', checked='true', disabled=True
\t\tStaticText 's6WcI'
\t[36] button 'Submit'"""


def seen(tree, goal='Click on the "cancel" button.', **more):
    """An observation, apart from what no agent of text reads."""
    return {
        "goal": goal,
        "goal_object": ({"type": "text", "text": goal},),
        "url": "file:///miniwob/click-button.html",
        "axtree_txt": tree,
        "last_action_error": "",
        "dom_object": {"documents": []},
        "screenshot": None,
        **more,
    }


class TwoButtons:
    """A page with `submit`, a field and `cancel`, under new ids at each load; one button pays."""

    def __init__(self, steps=5):
        self.steps, self.loads, self.taken, self.seeds = steps, 0, [], []

    def reset(self, seed=None):
        self.taken = []
        self.seeds.append(seed)
        return self._page(), {}

    def step(self, action):
        self.taken.append(action)
        over = action.startswith("click")
        right = action == f"click('{18 + self.loads}')"
        return self._page(), float(over and right), over, len(self.taken) >= self.steps, {}

    def _page(self):
        self.loads += 100
        tree = CLICK_BUTTON
        for id in (12, 16, 18):
            tree = tree.replace(f"[{id}]", f"[{id + self.loads}]")
        return seen(tree)
