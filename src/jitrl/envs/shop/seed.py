"""Fills the shop's empty database with what ``data`` has drawn; runs in the site's process."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.apps import apps
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.utils.text import slugify

from jitrl.envs.shop.data import (
    CATEGORIES,
    NOW,
    SHOPPER,
    SHOPPER_SESSION,
    STAFF,
    STAFF_SESSION,
    Customer,
    Order,
    Shop,
)


def fill(shop: Shop) -> None:
    """Write all of ``shop``, what the site itself needs, and two sessions that are logged in."""
    site = _model("sites.Site").objects.update_or_create(
        id=1, defaults={"domain": "127.0.0.1", "name": "Harbor Shop"}
    )[0]
    country = _model("address.Country").objects.create(
        iso_3166_1_a2="DE",
        iso_3166_1_a3="DEU",
        iso_3166_1_numeric="276",
        printable_name="Germany",
        name="Federal Republic of Germany",
        is_shipping_country=True,
    )
    _users(shop)
    _catalogue(shop)
    _orders(shop, country)
    _make(
        "reviews.ProductReview",
        (
            {
                "id": r.id,
                "product_id": r.product.id,
                "user_id": r.customer.id,
                "score": r.score,
                "title": r.title,
                "body": r.body,
                "status": r.status,
                "date_created": r.written,
            }
            for r in shop.reviews
        ),
    )
    for product in _model("catalogue.Product").objects.all():
        product.update_rating()
    _promotions(shop)
    pages = [
        {"id": 501 + i, "url": f"/{slugify(title)}/", "title": title, "content": f"{title}."}
        for i, title in enumerate(shop.pages)
    ]
    for page in _make("flatpages.FlatPage", pages):
        page.sites.add(site)
    _baskets(shop)
    for user, session in ((STAFF, STAFF_SESSION), (SHOPPER, SHOPPER_SESSION)):
        _log_in(user, session)


def _model(name: str) -> Any:
    return apps.get_model(name)


def _make(name: str, rows: Any) -> list[Any]:
    """Rows of one table, written at once."""
    model = _model(name)
    return list(model.objects.bulk_create([model(**row) for row in rows]))


def _users(shop: Shop) -> None:
    user = get_user_model()
    common = {"is_superuser": True, "is_staff": True, "date_joined": NOW - timedelta(days=900)}
    staff = user(
        id=STAFF,
        username="staff",
        email="staff@shop.example",
        first_name="Sam",
        last_name="Staff",
        **common,
    )
    customers = [
        user(
            id=c.id,
            username=c.email,
            email=c.email,
            first_name=c.first,
            last_name=c.last,
            date_joined=c.joined,
        )
        for c in shop.customers
    ]
    for one in (staff, *customers):
        one.set_password("password")
    user.objects.bulk_create([staff, *customers])


def _catalogue(shop: Shop) -> None:
    category, make = _model("catalogue.Category"), _model("catalogue.ProductClass").objects.create
    kind = make(id=1, name="Goods", slug="goods", track_stock=True)
    places = {name: category.add_root(name=name) for name in CATEGORIES}
    _make(
        "partner.Partner",
        (
            {"id": 1 + i, "code": slugify(name), "name": name}
            for i, name in enumerate(shop.partners)
        ),
    )
    _make(
        "catalogue.Product",
        (
            {
                "id": p.id,
                "title": p.title,
                "slug": slugify(p.title),
                "upc": p.upc,
                "product_class": kind,
                "description": f"{p.title}, from our {p.category} department.",
                "date_created": NOW - timedelta(days=p.id),
            }
            for p in shop.products
        ),
    )
    _make(
        "catalogue.ProductCategory",
        ({"id": p.id, "product_id": p.id, "category": places[p.category]} for p in shop.products),
    )
    _make(
        "partner.StockRecord",
        (
            {
                "id": p.id,
                "product_id": p.id,
                "partner_id": p.partner,
                "partner_sku": f"SKU-{p.upc[:5]}",
                "price": Decimal(p.price),
                "num_in_stock": p.stock,
                "low_stock_threshold": p.low,
            }
            for p in shop.products
        ),
    )
    _make(
        "partner.StockAlert",
        ({"id": p.id, "stockrecord_id": p.id, "threshold": p.low} for p in shop.products if p.low),
    )


def _address(customer: Customer, country: Any) -> dict[str, Any]:
    return {
        "first_name": customer.first,
        "last_name": customer.last,
        "line1": customer.street,
        "line4": customer.city,
        "postcode": customer.postcode,
        "country": country,
        "phone_number": customer.phone,
    }


def _orders(shop: Shop, country: Any) -> None:
    for customer in shop.customers:
        _model("address.UserAddress")(
            id=customer.id, user_id=customer.id, **_address(customer, country)
        ).save()
    for order in shop.orders:
        _model("order.ShippingAddress")(id=order.id, **_address(order.customer, country)).save()
    _make(
        "order.Order",
        (
            {
                "id": o.id,
                "number": o.number,
                "site_id": 1,
                "user_id": o.customer.id,
                "currency": "USD",
                "total_incl_tax": Decimal(o.total),
                "total_excl_tax": Decimal(o.total),
                "shipping_address_id": o.id,
                "shipping_method": "Free shipping",
                "shipping_code": "free-shipping",
                "status": o.status,
                "date_placed": o.placed,
            }
            for o in shop.orders
        ),
    )
    _make(
        "analytics.UserRecord",
        (
            {"user_id": c.id, "num_orders": sum(o.customer == c for o in shop.orders)}
            for c in shop.customers
        ),
    )
    _make("order.Line", (line for order in shop.orders for line in _lines(order, shop)))


def _lines(order: Order, shop: Shop) -> list[dict[str, Any]]:
    made = []
    for i, line in enumerate(order.lines):
        price, product = Decimal(line.cents) / 100, line.product
        unit = Decimal(product.price)
        made.append(
            {
                "id": order.id * 10 + i,
                "order_id": order.id,
                "partner_id": product.partner,
                "partner_name": shop.partners[product.partner - 1],
                "partner_sku": f"SKU-{product.upc[:5]}",
                "stockrecord_id": product.id,
                "product_id": product.id,
                "title": product.title,
                "upc": product.upc,
                "quantity": line.quantity,
                "line_price_incl_tax": price,
                "line_price_excl_tax": price,
                "line_price_before_discounts_incl_tax": price,
                "line_price_before_discounts_excl_tax": price,
                "unit_price_incl_tax": unit,
                "unit_price_excl_tax": unit,
                "status": order.status,
                "num_allocated": 0,
            }
        )
    return made


def _promotions(shop: Shop) -> None:
    everything = _model("offer.Range").objects.create(
        id=1, name="All products", slug="all-products", includes_all_products=True, is_public=True
    )
    start, end = NOW - timedelta(days=200), NOW + timedelta(days=200)

    def offer(id: int, name: str, percent: int, items: int, **more: Any) -> Any:
        condition = _model("offer.Condition").objects.create(
            id=id, range=everything, type="Count", value=items
        )
        benefit = _model("offer.Benefit").objects.create(
            id=id, range=everything, type="Percentage", value=percent
        )
        return _model("offer.ConditionalOffer").objects.create(
            id=id, name=name, condition=condition, benefit=benefit, start_datetime=start, **more
        )

    for o in shop.offers:
        offer(o.id, o.name, o.percent, o.items, offer_type="Site", status=o.status)
    for v in shop.vouchers:
        made = _model("voucher.Voucher").objects.create(
            id=v.id,
            name=v.name,
            code=v.code,
            usage="Multi-use",
            start_datetime=start,
            end_datetime=end,
            num_basket_additions=v.additions,
            num_orders=v.orders,
        )
        made.offers.add(
            offer(v.id + 100, f"Offer for {v.code}", v.percent, 1, offer_type="Voucher")
        )


def _baskets(shop: Shop) -> None:
    _make("basket.Basket", ({"id": user, "owner_id": user} for user in (STAFF, SHOPPER)))
    _make(
        "basket.Line",
        (
            {
                "id": 701 + i,
                "basket_id": SHOPPER,
                "line_reference": f"{line.product.id}_{line.product.id}",
                "product_id": line.product.id,
                "stockrecord_id": line.product.id,
                "quantity": line.quantity,
                "price_currency": "USD",
                "price_excl_tax": Decimal(line.product.price),
                "price_incl_tax": Decimal(line.product.price),
            }
            for i, line in enumerate(shop.basket)
        ),
    )
    _make("wishlists.WishList", [{"id": 1, "owner_id": SHOPPER, "name": "Someday", "key": "SDY"}])
    _make(
        "wishlists.Line",
        (
            {"id": 801 + i, "wishlist_id": 1, "product_id": p.id, "title": p.title}
            for i, p in enumerate(shop.wishlist)
        ),
    )


def _log_in(id: int, key: str) -> None:
    user = get_user_model().objects.get(id=id)
    content = {
        SESSION_KEY: str(id),
        BACKEND_SESSION_KEY: "django.contrib.auth.backends.ModelBackend",
        HASH_SESSION_KEY: user.get_session_auth_hash(),
    }
    _model("sessions.Session").objects.create(
        session_key=key,
        session_data=SessionStore().encode(content),
        expire_date=NOW + timedelta(days=365),
    )
