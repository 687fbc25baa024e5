"""Hand-made answers and recorded requests of WebArena tasks."""

import json

URLS = {
    "shopping": "http://localhost:7770",
    "shopping_admin": "http://localhost:7780/admin",
    "reddit": "http://localhost:9999",
    "gitlab": "http://localhost:8023",
    "map": "http://localhost:3000",
    "wikipedia": "http://localhost:8888",
}


def request(url, method="GET", status=200, *, form=None, body=None, redirect="", cookies=()):
    """An entry of a HAR, as a browser writes one when a page is opened."""
    made = {
        "request": {
            "method": method,
            "url": url,
            "headers": [{"name": "Accept", "value": "text/html,application/xhtml+xml"}],
        },
        "response": {
            "status": status,
            "headers": [],
            "cookies": [{"name": name, "value": value} for name, value in cookies],
            "content": {},
            "redirectURL": redirect,
        },
    }
    if form is not None:
        mime = "application/x-www-form-urlencoded"
        made["request"]["postData"] = {"mimeType": mime, "text": form}
    if body is not None:
        content = {"mimeType": "application/json", "text": json.dumps(body)}
        made["response"]["content"] = content
    return made


def answered(kind, data=None, status="SUCCESS"):
    """What an agent ends with."""
    return {"task_type": kind, "status": status, "retrieved_data": data, "error_details": None}


def saved(folder, answer, requests, *, urls=URLS):
    """A finished task in ``folder``."""
    folder.mkdir(parents=True)
    (folder / "agent_response.json").write_text(json.dumps(answer), encoding="utf-8")
    har = {"log": {"version": "1.2", "entries": requests}}
    (folder / "network.har").write_text(json.dumps(har), encoding="utf-8")
    if urls:
        (folder / "sites.json").write_text(json.dumps(urls), encoding="utf-8")
    return folder
