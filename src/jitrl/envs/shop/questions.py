"""Tasks that end with an answer, which is compared with what the shop holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

from jitrl.envs.shop.data import Order, Product, Shop
from jitrl.envs.shop.templates import (
    Draft,
    Drafts,
    Step,
    Template,
    answer,
    button,
    fill,
    link,
    template,
)
from jitrl.envs.shop.ways import (
    find_product,
    find_review,
    search,
    shuffled,
    to_order,
    to_page,
    to_product,
)


def money(amount: str) -> str:
    """An amount as pages print it."""
    return f"${float(amount):,.2f}"


def _of_order(name: str, read: Callable[[Order], str], *more: Step) -> Drafts:
    """Read something on an order's page in the back office."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for order in shuffled(rng, shop.orders):
            way = (*to_order(order.number), *more, answer(read(order)))
            yield Draft({name: order.number}, way, answer=read(order))

    return drafts


def _customer_email(shop: Shop, rng: Random) -> Iterator[Draft]:
    for customer in shuffled(rng, shop.customers):
        way = (
            button("Customers"),
            link("Customers"),
            fill("{User's name\x04Name}:", customer.name),
            button("Search"),
            answer(customer.email),
        )
        yield Draft({"customer": customer.name}, way, answer=customer.email)


def _customer_orders(shop: Shop, rng: Random) -> Iterator[Draft]:
    count = Counter(order.customer.id for order in shop.orders)
    for customer in shuffled(rng, shop.customers):
        way = (
            button("Customers"),
            link("Customers"),
            fill("{User's name\x04Name}:", customer.name),
            button("Search"),
            answer(str(count[customer.id])),
        )
        yield Draft({"customer": customer.name}, way, answer=str(count[customer.id]))


def _of_product(
    side: Callable[[str], tuple[Step, ...]], read: Callable[[Product], str], *more: Step
) -> Drafts:
    """Read something about a product, once ``side`` leads to it."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for product in shuffled(rng, shop.products):
            way = (*side(product.title), *more, answer(read(product)))
            yield Draft({"product": product.title}, way, answer=read(product))

    return drafts


def _available(shop: Shop, rng: Random) -> Iterator[Draft]:
    for product in shuffled(rng, shop.products):
        way = (*to_page(product.title), answer(str(product.stock)))
        yield Draft({"product": product.title}, way, answer=str(product.stock))


def _low(shop: Shop, rng: Random) -> Iterator[Draft]:
    for product in shuffled(rng, [p for p in shop.products if p.low]):
        way = (button("Catalogue"), link("Low stock alerts"), answer(str(product.stock)))
        yield Draft({"product": product.title}, way, answer=str(product.stock))


def _score(shop: Shop, rng: Random) -> Iterator[Draft]:
    for review in shuffled(rng, shop.reviews):
        given = f"{review.score}.0 / 5.0"
        values = {"customer": review.customer.name, "product": review.product.title}
        yield Draft(values, (*find_review(review.customer.name), answer(given)), answer=given)


def _written(shop: Shop, rng: Random) -> Iterator[Draft]:
    count = Counter(review.customer.name for review in shop.reviews)
    for name, n in shuffled(rng, sorted(count.items())):
        yield Draft({"customer": name}, (*find_review(name), answer(str(n))), answer=str(n))


def _uses(shop: Shop, rng: Random) -> Iterator[Draft]:
    for voucher in shuffled(rng, shop.vouchers):
        way = (
            button("Offers"),
            link("Vouchers"),
            fill("{Code}:", voucher.code),
            button("Search"),
            answer(str(voucher.orders)),
        )
        yield Draft({"code": voucher.code}, way, answer=str(voucher.orders))


def _percent(shop: Shop, rng: Random) -> Iterator[Draft]:
    for offer in shuffled(rng, shop.offers):
        given = f"{offer.percent}.00%"
        way = (
            button("Offers"),
            link("Offers"),
            fill("{Offer name}:", offer.name),
            button("Search"),
            answer(given),
        )
        yield Draft({"offer": offer.name}, way, answer=given)


def _mine(read: Callable[[Order], str], *, opened: bool) -> Drafts:
    """Read something about one of the shopper's own orders."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for order in shuffled(rng, [o for o in shop.orders if o.customer == shop.shopper]):
            page = (link(order.number, said=False),) if opened else ()
            way = (link("Account"), link("Order History"), *page, answer(read(order)))
            yield Draft({"order": order.number}, way, answer=read(order))

    return drafts


QUESTIONS: tuple[Template, ...] = (
    template(
        "orders:total",
        "staff",
        "money",
        _of_order("order", lambda order: money(order.total)),
        "What is the total of order {order}?; How much does order {order} come to in all?",
        "订单 {order} 的总额是多少？；订单 {order} 一共多少钱？",
    ),
    template(
        "orders:status",
        "staff",
        "status",
        _of_order("order", lambda order: order.status),
        "What is the status of order {order}?; How far has order {order} got? Give its status.",
        "订单 {order} 的状态是什么？；订单 {order} 进行到哪一步了？请给出状态。",
    ),
    template(
        "orders:buyer",
        "staff",
        "customer",
        _of_order("order", lambda order: order.customer.name),
        "Who placed order {order}?; Name the customer of order {order}.",
        "订单 {order} 是谁下的？；说出订单 {order} 的客户姓名。",
    ),
    template(
        "orders:phone",
        "staff",
        "phone",
        _of_order("order", lambda order: order.customer.phone, link("Shipping")),
        "Which phone number was given for the delivery of order {order}?; "
        "Whom can the carrier call about order {order}? Give the phone number.",
        "订单 {order} 的收货电话是多少？；送货员就订单 {order} 该打哪个电话？",
    ),
    template(
        "customers:email",
        "staff",
        "email",
        _customer_email,
        "What is the email address of {customer}?; At which email address is {customer} reached?",
        "{customer} 的邮箱是什么？；用哪个邮箱能联系到 {customer}？",
    ),
    template(
        "customers:orders",
        "staff",
        "number",
        _customer_orders,
        "How many orders has {customer} placed?; Count the orders of {customer}.",
        "{customer} 下过几个订单？；数一数 {customer} 的订单。",
    ),
    template(
        "catalog:upc",
        "staff",
        "code",
        _of_product(find_product, lambda product: product.upc),
        "What is the UPC of {product}?; Give the universal product code of {product}.",
        "{product} 的商品条码（UPC）是多少？；给出 {product} 的 UPC。",
    ),
    template(
        "catalog:stock",
        "staff",
        "number",
        _of_product(to_product, lambda product: str(product.stock), link("Stock and pricing")),
        "How many units of {product} are recorded as in stock?; "
        "What number in stock does the catalogue hold for {product}?",
        "{product} 登记的库存是多少件？；目录中 {product} 的库存数是多少？",
    ),
    template(
        "catalog:low",
        "staff",
        "number",
        _low,
        "According to the low stock alerts, how many {product} are still available?; "
        "A low stock alert was raised for {product}. How many are available?",
        "根据低库存提醒，{product} 还有几件？；{product} 有一条低库存提醒，还有几件可售？",
    ),
    template(
        "reviews:score",
        "staff",
        "score",
        _score,
        "Which score did {customer} give {product}?; How did {customer} rate {product}?",
        "{customer} 给 {product} 打了几分？；{customer} 对 {product} 的评分是多少？",
    ),
    template(
        "reviews:count",
        "staff",
        "count",
        _written,
        "How many reviews did {customer} write?; Count the reviews by {customer}.",
        "{customer} 写了几条评论？；数一数 {customer} 的评论。",
    ),
    template(
        "promotions:uses",
        "staff",
        "number",
        _uses,
        "In how many orders was the coupon {code} used?; Count the orders with the coupon {code}.",
        "优惠券 {code} 用在了几个订单里？；数一数用了优惠券 {code} 的订单。",
    ),
    template(
        "promotions:percent",
        "staff",
        "percent",
        _percent,
        "How much discount does the offer {offer} give?; What percentage does {offer} take off?",
        "促销 {offer} 打多少折扣？；{offer} 优惠百分之几？",
    ),
    template(
        "shop:price",
        "shopper",
        "money",
        _of_product(search, lambda product: money(product.price)),
        "What does {product} cost?; Tell me the price of {product}.",
        "{product} 多少钱？；告诉我 {product} 的价格。",
    ),
    template(
        "shop:available",
        "shopper",
        "number",
        _available,
        "How many {product} are available?; How many pieces of {product} could I buy now?",
        "{product} 还有多少件可买？；现在能买几件 {product}？",
    ),
    template(
        "account:total",
        "shopper",
        "money",
        _mine(lambda order: money(order.total), opened=False),
        "What did I pay for my order {order}?; How much was my order {order}?",
        "我的订单 {order} 付了多少钱？；我的订单 {order} 是多少金额？",
    ),
    template(
        "account:status",
        "shopper",
        "status",
        _mine(lambda order: order.status, opened=True),
        "What is the status of my order {order}?; Where is my order {order}? Give its status.",
        "我的订单 {order} 是什么状态？；我的订单 {order} 怎么样了？请给出状态。",
    ),
)
