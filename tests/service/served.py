"""A folder that is served, and callers with keys that may do some of it."""


class Place:
    """A folder that is served, with keys by what they may do."""

    def __init__(self, folder):
        from jitrl.service.keys import Keys

        self.folder = folder
        self.keys = Keys(folder / "keys.json")
        self._texts = {}

    def key(self, *scopes, tenant="shop", name=None):
        """The text of a key; the same one for the same arguments."""
        asked = scopes, tenant, name
        if asked not in self._texts:
            who = name or "/".join(scopes)
            self._texts[asked] = self.keys.add(who, tenant, scopes)[1]
        return self._texts[asked]

    def app(self, bounds=None, settings=None, **limits):
        from jitrl.service.app import create_app
        from jitrl.service.seats import Limits
        from jitrl.service.tenants import Tenants

        patient = Limits(**{"deadline": 30.0, **limits})
        made = Tenants(self.folder, model=settings, limits=patient)
        return create_app(made, bounds=bounds)


class Caller:
    """Asks an application with one key or another."""

    def __init__(self, place, client):
        self.place, self.client = place, client

    def __call__(self, method, path, body=None, *, may=("admin",), tenant="shop", **how):
        headers = {"Authorization": f"Bearer {self.place.key(*may, tenant=tenant)}"}
        headers |= how.pop("headers", {})
        more = {} if body is None else {"json": body}
        return self.client.request(method, path, headers=headers, **more, **how)

    def live(self, key, outcome=True, **how):
        """An episode of one step."""
        self("POST", "/v1/episodes", {"task": "t", "key": key}, **how)
        body = {"state": "page", "candidates": {"yes": 1.0, "no": 0.0}}
        self("POST", f"/v1/episodes/{key}/decide", body, **how)
        said = {"value": outcome, "basis": "test"}
        return self("POST", f"/v1/episodes/{key}/outcomes", said, **how)
