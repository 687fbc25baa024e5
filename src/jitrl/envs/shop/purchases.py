"""Deeds in the shop: the database shall change in exactly one way."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random

from jitrl.envs.shop.checks import Change, Wanted, added, edited, removed
from jitrl.envs.shop.data import SHOPPER, Shop, listed
from jitrl.envs.shop.templates import Draft, Step, Template, button, fill, link, template
from jitrl.envs.shop.ways import shuffled, to_page

_LISTS = listed("Birthday;Holidays;For the Garden;New Flat;Christmas;Ideas")
_NAMES = listed("Alma;Bruno;Clara;Edgar;Flora;Ivan;Judith;Marek;Olga;Ruben")
_CITIES = listed("Aarhus;Basel;Graz;Leuven;Nantes;Oulu;Pisa;Sibiu;Tartu;Zadar")
_OPINIONS = listed("Better than I thought;Not what I ordered;My new favorite;Fair for the price")
_TEXTS = listed("It does what it should;I sent it back;I use it every day;It was a present")


def _add(shop: Shop, rng: Random) -> Iterator[Draft]:
    inside = {line.product for line in shop.basket}
    for product in shuffled(rng, [p for p in shop.products if p not in inside]):
        price = Decimal(product.price)
        wanted = added(
            "basket_line",
            "line_reference",
            basket_id=SHOPPER,
            product_id=product.id,
            stockrecord_id=product.id,
            quantity=1,
            price_currency="USD",
            price_excl_tax=price,
            price_incl_tax=price,
        )
        way = (*to_page(product.title), button("Add to basket"))
        yield Draft({"product": product.title}, way, wanted)


def _quantity(shop: Shop, rng: Random) -> Iterator[Draft]:
    lines = list(enumerate(shop.basket))
    for (i, line), number in shuffled(rng, [(one, n) for one in lines for n in ("4", "5", "6")]):
        way = (
            button("View basket"),
            fill(f"form {i} quantity", number, "spinbutton"),
            button("Update", i + 1),
        )
        wanted = edited("basket_line", 701 + i, quantity=number)
        yield Draft({"product": line.product.title, "number": number}, way, wanted)


def _take_out(shop: Shop, rng: Random) -> Iterator[Draft]:
    for i, line in shuffled(rng, list(enumerate(shop.basket))):
        way = (button("View basket"), link("Remove", i + 1))
        yield Draft({"product": line.product.title}, way, removed("basket_line", 701 + i))


def _redeem(shop: Shop, rng: Random) -> Iterator[Draft]:
    for voucher in shuffled(rng, shop.vouchers):
        way = (
            button("View basket"),
            link("I have a voucher code..."),
            fill("Code", voucher.code),
            button("Add voucher"),
        )
        wanted = Wanted(
            (
                Change(
                    "basket_basket_vouchers",
                    None,
                    {"basket_id": SHOPPER, "voucher_id": voucher.id},
                    ("id",),
                ),
            ),
            {"voucher_voucher": ("num_basket_additions",)},
        )
        yield Draft({"code": voucher.code}, way, wanted)


def _wish(shop: Shop, rng: Random) -> Iterator[Draft]:
    for product in shuffled(rng, [p for p in shop.products if p not in shop.wishlist]):
        wanted = added(
            "wishlists_line", wishlist_id=1, product_id=product.id, quantity=1, title=product.title
        )
        way = (
            *to_page(product.title),
            link("Add to wish list"),
            link("Add to 'Someday' wish list"),
        )
        yield Draft({"product": product.title}, way, wanted)


def _new_list(shop: Shop, rng: Random) -> Iterator[Draft]:
    for name in shuffled(rng, _LISTS):
        way = (
            link("Account"),
            link("Wish Lists"),
            link("Create a new wish list"),
            fill("Name", name),
            button("Save"),
        )
        wanted = added(
            "wishlists_wishlist", "key", owner_id=SHOPPER, name=name, visibility="Private"
        )
        yield Draft({"name": name}, way, wanted)


def _opinion(shop: Shop, rng: Random) -> Iterator[Draft]:
    for product in shuffled(rng, shop.products):
        title, score, text = rng.choice(_OPINIONS), rng.randint(1, 5), rng.choice(_TEXTS)
        wanted = added(
            "reviews_productreview",
            product_id=product.id,
            user_id=SHOPPER,
            score=score,
            title=title,
            body=text,
        )
        way = (
            *to_page(product.title),
            link("Write a review"),
            fill("Title", title),
            Step("click", "generic", "fas fa star", ordinal=score),
            fill("Body", text),
            button("Save review"),
        )
        values = {
            "product": product.title,
            "title": title,
            "text": text,
            "score": str(score),
        }
        yield Draft(values, way, wanted, typed=(product.title, title, text))


def _rename_me(shop: Shop, rng: Random) -> Iterator[Draft]:
    for name in shuffled(rng, _NAMES):
        way = (
            link("Account"),
            link("Edit profile"),
            fill("First name", name),
            button("Save"),
        )
        yield Draft({"name": name}, way, edited("auth_user", SHOPPER, first_name=name))


def _move(shop: Shop, rng: Random) -> Iterator[Draft]:
    for city in shuffled(rng, _CITIES):
        way = (
            link("Account"),
            link("Address Book"),
            link("Edit"),
            fill("City", city),
            button("Save"),
        )
        wanted = Wanted(
            (Change("address_useraddress", SHOPPER, {"line4": city}),),
            {"address_useraddress": ("hash", "search_text")},
        )
        yield Draft({"city": city}, way, wanted)


PURCHASES: tuple[Template, ...] = (
    template(
        "basket:add",
        "shopper",
        "",
        _add,
        "Put {product} into my cart.; I want to buy one {product}: add it to the cart.",
        "把 {product} 放进我的购物车。；我想买一件 {product}，请加入购物车。",
    ),
    template(
        "basket:quantity",
        "shopper",
        "",
        _quantity,
        "Change the quantity of {product} in my cart to {number}.; "
        "I need {number} pieces of the {product} in my cart: update it.",
        "把购物车里 {product} 的数量改为 {number}。；"
        "购物车里的 {product} 我要 {number} 件，请更新。",
    ),
    template(
        "basket:remove",
        "shopper",
        "",
        _take_out,
        "Take {product} out of my cart.; "
        "I do not want {product} after all: remove it from my cart.",
        "把 {product} 从我的购物车里去掉。；我不要 {product} 了，请从购物车移除。",
    ),
    template(
        "basket:coupon",
        "shopper",
        "",
        _redeem,
        "Use the coupon {code} for my cart.; I have a coupon with the code {code}: redeem it.",
        "在我的购物车使用优惠券 {code}。；我有一张代码为 {code} 的优惠券，请使用。",
    ),
    template(
        "wishlist:add",
        "shopper",
        "",
        _wish,
        "Add {product} to my wish list.; I would like to get {product} some day: put it on my wish "
        "list.",
        "把 {product} 加入我的心愿单。；我以后想要 {product}，请放到心愿单里。",
    ),
    template(
        "wishlist:new",
        "shopper",
        "",
        _new_list,
        "Create a wish list called {name}.; I need another wish list, {name}.",
        "新建名为 {name} 的心愿单。；我还需要一个心愿单：{name}。",
    ),
    template(
        "shop:review",
        "shopper",
        "",
        _opinion,
        'Review {product} with the title "{title}", the score {score} and the text "{text}".; '
        'Write that {product} gets {score} of 5 points, the title is "{title}", the text "{text}".',
        "评论 {product}：标题“{title}”，评分 {score}，内容“{text}”。",
    ),
    template(
        "account:name",
        "shopper",
        "",
        _rename_me,
        "Change my first name to {name}.; My first name is {name} now: update my profile.",
        "把我的名字改为 {name}。；我现在叫 {name}，请更新我的资料。",
    ),
    template(
        "account:city",
        "shopper",
        "",
        _move,
        "Change the city of my address to {city}.; I have moved to {city}: update my address book.",
        "把我地址中的城市改为 {city}。；我搬到 {city} 了，请更新地址簿。",
    ),
)
