"""Deeds in the back office: the database shall change in exactly one way."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random

from jitrl.envs.shop.checks import Change, Wanted, added, edited, removed
from jitrl.envs.shop.data import (
    APPROVED,
    CATEGORIES,
    NEW,
    PIPELINE,
    REJECTED,
    STAFF,
    Review,
    Shop,
    listed,
)
from jitrl.envs.shop.templates import (
    Draft,
    Drafts,
    Step,
    Template,
    button,
    choose,
    fill,
    link,
    template,
    tick,
)
from jitrl.envs.shop.ways import find_review, shuffled, to_order, to_product

NOTES = listed(
    "Please call back;Sold out soon;Leave it at the door;Gift wrap it;Paid by phone;Fragile;"
    "Ships on Monday;Second parcel;Checked twice;No invoice"
)
_TITLES = listed("Our Story;Good to Know;Help Center;House Rules;Short Guide;Questions")
_SUPPLIERS = listed("Valley Works;Stonebridge;Fern and Sons;Old Mill;Bluebird;Clearwater")


def _status(shop: Shop, rng: Random) -> Iterator[Draft]:
    for order in shuffled(rng, shop.orders):
        for status in PIPELINE[order.status]:
            wanted = Wanted(
                (Change("order_order", order.id, {"status": status}),),
                {"order_orderstatuschange": ("*",), "order_ordernote": ("*",)},
            )
            way = (
                *to_order(order.number),
                choose("choose new status", status),
                button("Change status"),
            )
            yield Draft({"order": order.number, "status": status}, way, wanted)


def _note(shop: Shop, rng: Random) -> Iterator[Draft]:
    for order in shuffled(rng, shop.orders):
        text = rng.choice(NOTES)
        wanted = added("order_ordernote", order_id=order.id, user_id=STAFF, message=text)
        way = (
            *to_order(order.number),
            link("Notes"),
            fill("Message", text),
            button("Save note"),
        )
        yield Draft({"order": order.number, "text": text}, way, wanted, typed=(order.number, text))


def _price(shop: Shop, rng: Random) -> Iterator[Draft]:
    for product in shuffled(rng, shop.products):
        price = f"{rng.randint(121, 199)}.{rng.choice(('25', '75'))}"
        way = (
            *to_product(product.title),
            link("Stock and pricing"),
            fill("stockrecords 0 price", price, "spinbutton"),
            button("Save"),
        )
        wanted = edited("partner_stockrecord", product.id, price=Decimal(price))
        yield Draft({"product": product.title, "price": price}, way, wanted)


def _restock(shop: Shop, rng: Random) -> Iterator[Draft]:
    for product in shuffled(rng, shop.products):
        number = str(rng.randint(141, 400))
        way = (
            *to_product(product.title),
            link("Stock and pricing"),
            fill("stockrecords 0 num in stock", number, "spinbutton"),
            button("Save"),
        )
        wanted = Wanted(
            (Change("partner_stockrecord", product.id, {"num_in_stock": number}),),
            {"partner_stockalert": ("status", "date_closed")},
        )
        yield Draft({"product": product.title, "number": number}, way, wanted)


def _hide(shop: Shop, rng: Random) -> Iterator[Draft]:
    for product in shuffled(rng, shop.products):
        way = (*to_product(product.title), tick("Is public"), button("Save"))
        yield Draft(
            {"product": product.title},
            way,
            edited("catalogue_product", product.id, is_public=False),
        )


def _category(shop: Shop, rng: Random) -> Iterator[Draft]:
    for name in shuffled(rng, CATEGORIES):
        way = (
            button("Catalogue"),
            link("Categories"),
            link(name, said=False),
            tick("Exclude from menu"),
            button("Save"),
        )
        key = CATEGORIES.index(name) + 1
        wanted = edited("catalogue_category", key, exclude_from_menu=True)
        yield Draft({"category": name}, way, wanted)


def _supplier(shop: Shop, rng: Random) -> Iterator[Draft]:
    for name in shuffled(rng, _SUPPLIERS):
        way = (
            button("Fulfilment"),
            link("Partners"),
            link("Create new partner"),
            fill("Name", name),
            button("Save"),
        )
        yield Draft({"name": name}, way, added("partner_partner", "code", name=name))


def _judge(status: int, *more: Step) -> Drafts:
    """Approve or reject a review that waits for it."""

    def drafts(shop: Shop, rng: Random) -> Iterator[Draft]:
        for review in shuffled(rng, [r for r in shop.reviews if r.status == NEW]):
            wanted = Wanted(
                (Change("reviews_productreview", review.id, {"status": status}),),
                {"catalogue_product": ("rating",)},
            )
            way = (*_to_review(shop, review), *more, button("Save"))
            yield Draft(_named(review), way, wanted)

    return drafts


def _named(review: Review) -> dict[str, str]:
    return {"customer": review.customer.name, "product": review.product.title}


def _beside(shop: Shop, review: Review) -> list[Review]:
    """Reviews of the same customer, as they are listed."""
    return [r for r in shop.reviews if r.customer == review.customer]


def _to_review(shop: Shop, review: Review) -> tuple[Step, ...]:
    alike = [r for r in _beside(shop, review) if r.title == review.title]
    opened = link(review.title, alike.index(review) + 1, said=False)
    return (*find_review(review.customer.name), opened)


def _delete_review(shop: Shop, rng: Random) -> Iterator[Draft]:
    for review in shuffled(rng, shop.reviews):
        place = _beside(shop, review).index(review) + 1
        way = (
            *find_review(review.customer.name),
            button("Actions", place),
            link("Delete"),
            button("Delete"),
        )
        wanted = removed("reviews_productreview", review.id, catalogue_product=("rating",))
        yield Draft(_named(review), way, wanted)


def _delete_coupon(shop: Shop, rng: Random) -> Iterator[Draft]:
    for voucher in shuffled(rng, shop.vouchers):
        way = (
            button("Offers"),
            link("Vouchers"),
            fill("{Code}:", voucher.code),
            button("Search"),
            button("Actions"),
            link("Delete"),
            button("Delete"),
        )
        wanted = removed("voucher_voucher", voucher.id, voucher_voucher_offers=("*",))
        yield Draft({"code": voucher.code}, way, wanted)


def _suspend(shop: Shop, rng: Random) -> Iterator[Draft]:
    for offer in shuffled(rng, shop.offers):
        way = (
            button("Offers"),
            link("Offers"),
            fill("{Offer name}:", offer.name),
            button("Search"),
            link(offer.name, said=False),
            button("Suspend offer"),
        )
        wanted = edited("offer_conditionaloffer", offer.id, status="Suspended")
        yield Draft({"offer": offer.name}, way, wanted)


def _rename_page(shop: Shop, rng: Random) -> Iterator[Draft]:
    for i, page in shuffled(rng, list(enumerate(shop.pages))):
        title = rng.choice(_TITLES)
        way = (
            button("Content"),
            link("Pages"),
            link(page, said=False),
            fill("Title", title),
            button("Save"),
        )
        yield Draft(
            {"page": page, "title": title}, way, edited("django_flatpage", 501 + i, title=title)
        )


def _delete_page(shop: Shop, rng: Random) -> Iterator[Draft]:
    order = sorted(shop.pages)
    for i, page in shuffled(rng, list(enumerate(shop.pages))):
        way = (
            button("Content"),
            link("Pages"),
            button("Actions", order.index(page) + 1),
            link("Delete"),
            button("Delete"),
        )
        wanted = removed("django_flatpage", 501 + i, django_flatpage_sites=("*",))
        yield Draft({"page": page}, way, wanted)


ERRANDS: tuple[Template, ...] = (
    template(
        "orders:advance",
        "staff",
        "",
        _status,
        'Set the status of order {order} to "{status}".; '
        'Order {order} is "{status}" now: update it.',
        "把订单 {order} 的状态改为“{status}”。；订单 {order} 现在是“{status}”，请更新。",
    ),
    template(
        "orders:note",
        "staff",
        "",
        _note,
        'Add the note "{text}" to order {order}.; Write a note on order {order}: "{text}".',
        "给订单 {order} 添加备注“{text}”。；在订单 {order} 上写备注：“{text}”。",
    ),
    template(
        "catalog:price",
        "staff",
        "",
        _price,
        "Change the price of {product} to {price}.; "
        "{product} costs {price} from now on: update it.",
        "把 {product} 的价格改为 {price}。；{product} 从现在起卖 {price}，请更新。",
    ),
    template(
        "catalog:restock",
        "staff",
        "",
        _restock,
        "Set the number of {product} in stock to {number}.; "
        "There are {number} pieces of {product} in stock now: update it.",
        "把 {product} 的库存数设为 {number}。；{product} 现在有 {number} 件库存，请更新。",
    ),
    template(
        "catalog:hide",
        "staff",
        "",
        _hide,
        "Make the product {product} non-public.; {product} should no longer be shown in the shop.",
        "把商品 {product} 设为不公开。；{product} 不应再出现在商店里。",
    ),
    template(
        "catalog:menu",
        "staff",
        "",
        _category,
        "Exclude the category {category} from the menu.; "
        "The category {category} should not be in the menu any more.",
        "把分类 {category} 从菜单中排除。；分类 {category} 不应再出现在菜单里。",
    ),
    template(
        "catalog:partner",
        "staff",
        "",
        _supplier,
        "Create a partner named {name}.; We have a new supplier, {name}: create a partner.",
        "新建名为 {name} 的合作商。；我们有新的供应商 {name}，请新建合作商。",
    ),
    template(
        "reviews:approve",
        "staff",
        "",
        _judge(APPROVED),
        "Approve the review of {product} by {customer}.; "
        "What {customer} wrote about {product} is fine: approve the review.",
        "通过 {customer} 对 {product} 的评论。；{customer} 写的 {product} 评论没问题，请批准。",
    ),
    template(
        "reviews:reject",
        "staff",
        "",
        _judge(REJECTED, choose("{Status}:", "{Rejected}")),
        "Reject the review of {product} by {customer}.; "
        "What {customer} wrote about {product} breaks the rules: reject the review.",
        "拒绝 {customer} 对 {product} 的评论。；{customer} 写的 {product} 评论违规，请拒绝。",
    ),
    template(
        "reviews:delete",
        "staff",
        "",
        _delete_review,
        "Delete the review of {product} by {customer}.; "
        "Remove the review that {customer} wrote about {product}.",
        "删除 {customer} 对 {product} 的评论。；把 {customer} 写的 {product} 评论删掉。",
    ),
    template(
        "promotions:delete",
        "staff",
        "",
        _delete_coupon,
        "Delete the coupon {code}.; The coupon {code} is no longer needed: delete it.",
        "删除优惠券 {code}。；优惠券 {code} 不再需要了，请删除。",
    ),
    template(
        "promotions:suspend",
        "staff",
        "",
        _suspend,
        "Suspend the offer {offer}.; The offer {offer} must stop for now: suspend it.",
        "暂停促销 {offer}。；促销 {offer} 先停一停，请暂停。",
    ),
    template(
        "content:rename",
        "staff",
        "",
        _rename_page,
        'Rename the page "{page}" to "{title}".; '
        'Change the title of the page "{page}" to "{title}".',
        "把页面“{page}”改名为“{title}”。；将页面“{page}”的标题改成“{title}”。",
    ),
    template(
        "content:delete",
        "staff",
        "",
        _delete_page,
        'Delete the page "{page}".; We do not need the page "{page}" any more: delete it.',
        "删除页面“{page}”。；页面“{page}”不需要了，请删除。",
    ),
)
