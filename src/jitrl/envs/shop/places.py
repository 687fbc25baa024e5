"""Tasks that end when a page is shown."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from jitrl.envs.shop.data import CATEGORIES, Shop
from jitrl.envs.shop.templates import Draft, Template, button, link, template
from jitrl.envs.shop.ways import shuffled, to_order, to_page

_LISTS = {
    "Catalogue": {
        "Products": "catalogue/",
        "Product Types": "catalogue/product-types/",
        "Categories": "catalogue/categories/",
        "Ranges": "ranges/",
        "Low stock alerts": "catalogue/stock-alerts/",
        "Options": "catalogue/option/",
        "Attribute Option Groups": "catalogue/attribute-option-group/",
    },
    "Fulfilment": {
        "Orders": "orders/",
        "Statistics": "orders/statistics/",
        "Partners": "partners/",
    },
    "Customers": {"Customers": "users/", "Stock alert requests": "users/alerts/"},
    "Offers": {"Offers": "offers/", "Vouchers": "vouchers/", "Voucher Sets": "vouchers/sets/"},
    "Content": {"Pages": "pages/", "Email templates": "comms/", "Reviews": "reviews/"},
}
"""Lists of the back office by menu and entry, and their paths."""
_PHRASES = {
    "Products": ("all products", "所有商品"),
    "Product Types": ("the kinds of product we have", "我们的商品类型"),
    "Categories": ("the categories of the catalogue", "商品目录的分类"),
    "Ranges": ("the ranges of products", "商品系列"),
    "Low stock alerts": ("which products are running out", "哪些商品快卖完了"),
    "Options": ("the options that products can have", "商品可有的选项"),
    "Attribute Option Groups": ("the groups of attribute options", "属性选项组"),
    "Orders": ("what customers have ordered", "客户下的订单"),
    "Statistics": ("the statistics of orders", "订单统计"),
    "Partners": ("our partners", "我们的合作商"),
    "Customers": ("the list of customers", "客户名单"),
    "Stock alert requests": ("who waits for products to come back", "谁在等商品到货"),
    "Offers": ("the offers", "促销活动"),
    "Vouchers": ("the coupon codes", "优惠券代码"),
    "Voucher Sets": ("the sets of vouchers", "优惠券组"),
    "Pages": ("the pages with fixed texts", "固定文字的页面"),
    "Email templates": ("the texts of our emails", "我们的邮件模板"),
    "Reviews": ("what customers write about products", "客户对商品的评论"),
}
_MINE = {
    "Order History": ("orders/", "my earlier orders", "我以前的订单"),
    "Address Book": ("addresses/", "my addresses", "我的地址"),
    "Email History": ("emails/", "the emails that the shop sent me", "商店发给我的邮件"),
    "Product Alerts": ("alerts/", "my product alerts", "我的到货提醒"),
    "Notifications": ("notifications/inbox/", "my notifications", "我的通知"),
    "Wish Lists": ("wishlists/", "my wish lists", "我的心愿单"),
    "Edit profile": ("profile/edit/", "the form with my name", "填写我姓名的表单"),
    "Change password": ("change-password/", "where I can change my password", "修改密码的地方"),
}
"""Pages of the shopper's account by the link that leads there."""


def _list(shop: Shop, rng: Random) -> Iterator[Draft]:
    entries = [(menu, entry) for menu, entries in _LISTS.items() for entry in entries]
    for menu, entry in shuffled(rng, entries):
        en, zh = _PHRASES[entry]
        page = f"/dashboard/{_LISTS[menu][entry]}"
        way = (button(menu), link(entry))
        yield Draft({"what": en}, way, page=page, typed=(), zh={"what": zh})


def _mine(shop: Shop, rng: Random) -> Iterator[Draft]:
    for entry in shuffled(rng, list(_MINE)):
        path, en, zh = _MINE[entry]
        way = (link("Account"), link(entry))
        page = f"/accounts/{path}"
        yield Draft({"what": en}, way, page=page, typed=(), zh={"what": zh})


def _order(shop: Shop, rng: Random) -> Iterator[Draft]:
    for order in shuffled(rng, shop.orders):
        page = f"/dashboard/orders/{order.number}/"
        yield Draft({"order": order.number}, to_order(order.number), page=page)


def _product(shop: Shop, rng: Random) -> Iterator[Draft]:
    for product in shuffled(rng, shop.products):
        slug = product.title.lower().replace(" ", "-")
        way = to_page(product.title)
        yield Draft({"product": product.title}, way, page=f"/catalogue/{slug}_{product.id}/")


def _category(shop: Shop, rng: Random) -> Iterator[Draft]:
    for name in shuffled(rng, CATEGORIES):
        page = f"/catalogue/category/{name.lower()}_{CATEGORIES.index(name) + 1}/"
        yield Draft({"category": name}, (link(name, said=False),), page=page, typed=())


PLACES: tuple[Template, ...] = (
    template(
        "find:list",
        "staff",
        "",
        _list,
        "Show me {what}.; I want to see {what}.",
        "让我看看{what}。；我想看{what}。",
    ),
    template(
        "find:mine",
        "shopper",
        "",
        _mine,
        "Show me {what}.; Take me to {what}.",
        "让我看看{what}。；带我去{what}。",
    ),
    template(
        "find:order",
        "staff",
        "",
        _order,
        "Open the order {order}.; Go to the page of order {order}.",
        "打开订单 {order}。；转到订单 {order} 的页面。",
    ),
    template(
        "find:product",
        "shopper",
        "",
        _product,
        "Open the page of {product}.; Show me {product} with all details.",
        "打开 {product} 的页面。；让我看看 {product} 的详细信息。",
    ),
    template(
        "find:category",
        "shopper",
        "",
        _category,
        "Show me the category {category}.; I am looking for something in {category}.",
        "让我看看分类 {category}。；我想在 {category} 里找东西。",
    ),
)
