"""URL keys keep where one is and drop which one it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.envs.codecs.urls import url_key


@pytest.mark.parametrize(
    ("url", "key"),
    [
        (
            "http://localhost:7780/admin/sales/order/view/order_id/17/",
            "s/admin/sales/order/view/order_id/{id}",
        ),
        ("https://10.0.0.3/admin/sales/order?x=1#top", "s/admin/sales/order"),
        ("/files/3f2504e0-4f89-11d3-9a0c-0305e82c3301", "s/files/{id}"),
        ("/log/2024-05-01/2024-05-01T10:00:00Z", "s/log/{date}/{date}"),
        ("/commit/9f8a7b6c5d4e", "s/commit/{hash}"),
        ("/key/d41d8cd98f00b204e9800998ecf8427e/back", "s/key/{hash}/back"),
        ("/filter/c3RhdHVzPXBlbmRpbmc%3D/", "s/filter/{hash}"),
        ("/order-12345.html", "s/order-{id}.html"),
        ("/olivia-1-4-zip-light-jacket.html", "s/olivia-1-4-zip-light-jacket.html"),
        ("/checkout/ShoppingCartOverview2024", "s/checkout/ShoppingCartOverview2024"),
        ("https://x.example/#/orders/12?tab=a", "s/orders/{id}"),
        ("/商品/编辑/12", "s/商品/编辑/{id}"),
        ("/%E5%95%86%E5%93%81", "s/商品"),
        ("/%ff%/x", "s/\ufffd%/x"),
        ("about:blank", "s/blank"),
        ("http://[::1", "s"),
        ("", "s"),
    ],
)
def test_identities_become_placeholders(url: str, key: str):
    assert url_key(url, site="s") == key


def test_chosen_parameters_are_kept_in_one_order():
    assert url_key("/a?z=9&tab=x&id=77&q=b", keep=("tab", "id")) == "a?id={id}&tab=x"
    assert url_key("/a?z=9", keep=("tab",)) == "a"


def test_host_and_port_say_nothing():
    assert len({url_key(f"{h}/a/b") for h in ("http://a:1", "https://b", "//c:8083")}) == 1


@given(st.text(max_size=300))
def test_junk_gives_a_key_that_is_stable(url: str):
    assert url_key(url, keep=("a",)) == url_key(url, keep=("a",))
