"""A small site that stands in for one of WebArena's: links, a rating, a wish list."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

_PAGES = {
    "/": "<h1>Start</h1><a href='/dashboard/todos'>To-Do List</a> <a href='/other'>Other</a> "
    "<a href='/cable.html'>Ugreen cable</a> <a href='/soap.html'>Laundry detergent</a>",
    "/dashboard/todos": "<h1>To-Do List</h1><p>Nothing to do.</p>",
    "/other": "<h1>Other</h1>",
    "/cable.html": "<h1>Ugreen cable</h1><p>Rating:</p><p>65</p>",
    "/soap.html": "<h1>Tide</h1><form method='post' action='/wishlist/index/add/'>"
    "<input type='hidden' name='product' value='14'><button>Add to Wish List</button></form>",
    "/wishlist/": "<h1>My Wish List</h1>",
    "/account": "<h1>Account</h1>",
}


class _Site(BaseHTTPRequestHandler):
    def do_GET(self):
        body = _PAGES.get(self.path)
        if self.path == "/account":
            body += f"<p>{self.headers.get('Cookie', 'nobody')}</p>"
        self._send(200 if body else 404, {}, body or "<h1>Not found</h1>")

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        said = "Tide laundry detergent has been added to your wish list. Click here"
        headers = {"Location": "/wishlist/", "Set-Cookie": f"mage-messages={quote(said)}; Path=/"}
        self._send(302, headers, "")

    def _send(self, status, headers, body):
        page = f"<!doctype html><title>{self.path}</title>{body}".encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


@contextmanager
def served():
    """The address of the running site."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
