"""The records of one shop, drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from jitrl.envs.backoffice.spec import CATEGORIES, GROUPS, KINDS, ORDER_STATES, REVIEW_STATES, YEARS
from jitrl.envs.instances import Language

Record = Mapping[str, str]
Table = Mapping[str, Record]
Shop = Mapping[str, Table]
"""Tables by name; records by key in the order listed."""


def _pairs(text: str) -> Mapping[str, Sequence[str]]:
    """English and Chinese halves of ``English=Chinese`` entries."""
    halves = [entry.strip().split("=") for entry in text.split(";")]
    return {"en": [en for en, _ in halves], "zh": [zh for _, zh in halves]}


_MADE = _pairs(
    "Aero=轻风; Breeze=微风; Coral=珊瑚; Dawn=晨曦; Ember=余烬; Fjord=峡湾; Grove=林间; "
    "Harbor=港湾; Iris=鸢尾; Juniper=杜松; Kestrel=红隼; Lumen=流明; Meadow=草原; "
    "Nimbus=云雨; Onyx=玛瑙; Prism=棱镜"
)
_THINGS = {
    "Tops": _pairs("Tee=T恤; Hoodie=连帽衫; Tank=背心; Jacket=夹克"),
    "Pants": _pairs("Shorts=短裤; Jogger=慢跑裤; Capri=七分裤; Legging=紧身裤"),
    "Bags": _pairs("Tote=托特包; Backpack=双肩包; Duffle=旅行包; Pouch=小包"),
    "Watches": _pairs("Watch=手表; Tracker=手环; Timer=计时器; Chronograph=计时表"),
}
_FIRST = _pairs(
    "Anna=安娜; Boris=鲍里斯; Clara=克拉拉; David=大卫; Emma=艾玛; Felix=菲利克斯; "
    "Grace=格蕾丝; Hugo=雨果; Irene=艾琳; Jonas=乔纳斯; Karen=凯伦; Luis=路易斯"
)
_LAST = _pairs(
    "Smith=史密斯; Lopez=洛佩兹; Novak=诺瓦克; O'Brien=奥布莱恩; Okafor=奥卡福; Rossi=罗西; "
    "Weber=韦伯; Tanaka=田中"
)
_NICK = _pairs(
    "Sunny=小晴; Max=大山; Jo=阿乔; Pixel=像素; Robin=知更; Skye=天天; Taz=塔子; Uma=乌玛; "
    "Vic=小维; Wren=鹪鹩; Yuki=小雪; Zed=阿泽; Bo=阿博; Cleo=可莉"
)
_CITY = _pairs("Lyon=里昂; Porto=波尔图; Graz=格拉茨; Turku=图尔库; Leeds=利兹; Ghent=根特")
_CATEGORY = _pairs(
    "Men=男装; Women=女装; Gear=装备; Sale=促销; What's New=新品; Training=训练; Gifts=礼品; "
    "Outlet=奥莱"
)
_PAGE = _pairs(
    "About Us=关于我们; Privacy Policy=隐私政策; Home Page=首页; Size Guide=尺码指南; "
    "Contact Us=联系我们; Shipping Info=配送说明; Returns=退货; Careers=招聘; Press=媒体; "
    "FAQ=常见问题"
)
_BLOCK = _pairs(
    "Footer Links=页脚链接; Home Banner=首页横幅; Login Note=登录提示; Gift Note=礼品提示; "
    "Cart Hint=购物车提示; Sale Teaser=促销预告; Size Chart=尺码表; Store Hours=营业时间"
)
_REGION = _pairs(
    "California=加利福尼亚; New York=纽约; Texas=得克萨斯; Ohio=俄亥俄; Bavaria=巴伐利亚; "
    "Ontario=安大略; Kyoto=京都; Oslo=奥斯陆"
)
_ATTRIBUTE = _pairs(
    "Color=颜色; Material=材质; Size=尺码; Pattern=图案; Climate=气候; Sleeve=袖长; "
    "Collar=领型; Style=风格"
)
_CACHE = _pairs(
    "Layouts=布局; Blocks HTML=区块HTML; Translations=翻译; Page Cache=整页缓存; "
    "Collections=集合数据; Web Services=网络服务; Customer Notes=客户通知; "
    "Reflection=反射数据"
)
_INDEX = _pairs(
    "Design Grid=设计表格; Customer Grid=客户表格; Product Flat=商品平面; "
    "Category Flat=分类平面; Stock=库存; Price Index=价格索引; Catalog Search=目录搜索; "
    "Rule Index=规则索引"
)
_TERM = _pairs(
    "hoodie=连帽衫; yoga=瑜伽; gift card=礼品卡; red tote=红色托特包; running=跑步; "
    "strap=表带; rain jacket=雨衣; kids=儿童; summer=夏季; bottle=水壶"
)
_USER = ("anne", "bjorn", "chen", "dario", "elif", "farah", "goran", "hana")
_ROLE = _pairs("Administrator=管理员; Editor=编辑; Support=客服")
_CARRIER = ("DHL", "UPS", "FedEx", "USPS")
_CODE = ("SALE", "VIP", "NEW", "OFF", "GIFT", "HOLIDAY", "WINTER", "APP")
_CURRENCY = ("EUR", "GBP", "JPY", "CNY", "CHF", "SEK", "INR", "MXN")


def make_shop(seed: int, language: Language) -> Shop:
    """All tables of the shop of this seed; in both languages it is the same shop."""
    rng = Random(f"shop/{seed}")
    names = [
        f"{a} {b}" if language == "en" else f"{a}·{b}"
        for a in _FIRST[language]
        for b in _LAST[language]
    ]
    customers = _customers(rng, rng.sample(names, 12), language)
    people = list(customers)
    products = _products(rng, language)
    reviews = _reviews(rng, list(products), language)
    rules = _rules(rng)
    shop: dict[str, Table] = {
        "customer": customers,
        "product": products,
        "review": reviews,
        "rule": rules,
        **_sales(rng, customers),
        **_reports(rng, products, rules, people, language),
        "group": _table("Name", ({"Name": g, "Tax Class": "Retail Customer"} for g in GROUPS)),
        "category": _switches(rng, "Name", "In Menu", _CATEGORY[language]),
        "page": _switches(rng, "Title", "Enabled", _PAGE[language]),
        "block": _switches(rng, "Title", "Enabled", _BLOCK[language]),
        "attribute": _switches(rng, "Attribute", "Required", _ATTRIBUTE[language]),
        "subscriber": _table(
            "Email",
            (
                {"Email": customers[c]["Email"], "Status": "Subscribed", "Customer": c}
                for c in rng.sample(people, 10)
            ),
        ),
        "taxrate": _numbers(rng, "Region", "Rate", _REGION[language], 100, 1200, 100),
        "currency": _numbers(rng, "Currency", "Rate", _CURRENCY, 50, 9000, 100),
        "config": {
            "Default": {
                "Name": "Default",
                "Country": "US",
                "Store Phone": f"555-{rng.randrange(1000, 9999)}",
                "Store Email": f"shop{rng.randrange(10, 99)}@example.com",
            }
        },
        "cache": _states(rng, "Cache", _CACHE[language], ("Enabled", "Invalid")),
        "index": _states(rng, "Index", _INDEX[language], ("Update Needed", "Invalid")),
        "user": _table(
            "User",
            (
                {"User": u, "Role": rng.choice(_ROLE[language]), "Active": "Yes"}
                for u in rng.sample(_USER, len(_USER))
            ),
        ),
    }
    for kind in KINDS.values():
        if kind.rows:
            shop[kind.name] = _table(
                "Name", (dict(zip(kind.columns, row, strict=True)) for row in kind.rows)
            )
    return shop


def _table(key: str, records: Iterable[Record]) -> Table:
    return {record[key]: record for record in records}


def _switches(rng: Random, key: str, switch: str, names: Sequence[str]) -> Table:
    """Records that are on or off, about half of them each."""
    half = len(names) // 2
    states = _spread(rng, ("Yes", "No"), (half, len(names) - half))
    drawn = rng.sample(names, len(names))
    return _table(key, ({key: n, switch: s} for n, s in zip(drawn, states, strict=True)))


def _states(rng: Random, key: str, names: Sequence[str], states: Sequence[str]) -> Table:
    return _table(
        key, ({key: n, "Status": rng.choice(states)} for n in rng.sample(names, len(names)))
    )


def _numbers(
    rng: Random, key: str, field: str, names: Sequence[str], low: int, high: int, unit: int = 1
) -> Table:
    """Records with a number each, all different; ``unit`` 100 writes two decimals."""
    numbers = rng.sample(range(low, high), len(names))
    written = (f"{n / unit:.2f}" if unit > 1 else str(n) for n in numbers)
    return _table(key, ({key: n, field: v} for n, v in zip(names, written, strict=True)))


def _spread(rng: Random, values: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Each value as often as one of ``counts``, shuffled."""
    pool = [
        v for v, n in zip(values, rng.sample(counts, len(counts)), strict=True) for _ in range(n)
    ]
    rng.shuffle(pool)
    return pool


def _customers(rng: Random, names: Sequence[str], language: Language) -> Table:
    groups = _spread(rng, GROUPS, (3, 4, 5))
    phones = rng.sample(range(1000, 9999), len(names))
    mails = rng.sample(_USER + _CURRENCY, len(names))
    return _table(
        "Name",
        (
            {
                "Name": name,
                "Email": f"{mail.lower()}{phone % 100}@mail.test",
                "Phone": f"555-{phone}",
                "City": rng.choice(_CITY[language]),
                "Group": group,
            }
            for name, mail, phone, group in zip(names, mails, phones, groups, strict=True)
        ),
    )


def _products(rng: Random, language: Language) -> Table:
    made = rng.sample(range(len(_MADE[language])), 16)
    stock, prices = rng.sample(range(2, 200), 16), rng.sample(range(12, 150), 16)
    categories = _spread(rng, CATEGORIES, (3, 4, 4, 5))
    records = []
    for i, category in enumerate(categories):
        thing = rng.choice(_THINGS[category][language])
        name = f"{_MADE[language][made[i]]}{' ' if language == 'en' else ''}{thing}"
        records.append(
            {
                "Name": name,
                "SKU": f"{category[0]}{made[i]:02d}-{rng.choice('SML')}",
                "Category": category,
                "Price": f"{prices[i]}.00",
                "Quantity": str(stock[i]),
                "Enabled": "Yes",
            }
        )
    return _table("Name", records)


def _reviews(rng: Random, products: Sequence[str], language: Language) -> Table:
    states = _spread(rng, REVIEW_STATES, (3, 5, 6))
    nicks = rng.sample(_NICK[language], len(states))
    return _table(
        "Review",
        (
            {
                "Review": f"{nick}: {product}",
                "Nickname": nick,
                "Product": product,
                "Rating": rng.choice("12345"),
                "Status": state,
            }
            for nick, state, product in zip(
                nicks, states, rng.choices(products[:6], k=len(states)), strict=True
            )
        ),
    )


def _rules(rng: Random) -> Table:
    codes = [f"{code}{rng.randrange(5, 99)}" for code in rng.sample(_CODE, len(_CODE))]
    return _table(
        "Code",
        (
            {"Code": c, "Discount": str(rng.randrange(5, 60)), "Active": a}
            for c, a in zip(codes, _spread(rng, ("Yes", "No"), (3, 5)), strict=True)
        ),
    )


def _sales(rng: Random, customers: Table) -> Mapping[str, Table]:
    """Orders, and invoices and shipments of some of them."""
    numbers = [str(n) for n in rng.sample(range(1000, 9999), 16 + 10 + 10)]
    totals = rng.sample(range(2000, 40000), 16 + 10)
    buyers = rng.sample(list(customers), 6)
    orders = _table(
        "Number",
        (
            {
                "Number": number,
                "Status": state,
                "Customer": (customer := rng.choice(buyers)),
                "Email": customers[customer]["Email"],
                "Grand Total": f"${total / 100:.2f}",
                "Comment": "",
            }
            for number, state, total in zip(
                numbers[:16], _spread(rng, ORDER_STATES, (3, 4, 4, 5)), totals[:16], strict=True
            )
        ),
    )

    def related(own: Sequence[str], field: str, values: Iterable[str], extra: str) -> Table:
        return _table(
            "Number",
            (
                {
                    "Number": number,
                    "Order": order,
                    "Customer": orders[order]["Customer"],
                    field: value,
                    extra: rng.choice(_CARRIER) if extra == "Carrier" else _day(rng),
                }
                for number, order, value in zip(
                    own, rng.sample(list(orders), len(own)), values, strict=True
                )
            ),
        )

    amounts = (f"${total / 100:.2f}" for total in totals[16:])
    tracks = (f"TR{n}" for n in rng.sample(range(10_000, 99_999), 10))
    return {
        "order": orders,
        "invoice": related(numbers[16:26], "Amount", amounts, "Invoice Date"),
        "shipment": related(numbers[26:], "Tracking Number", tracks, "Carrier"),
    }


def _day(rng: Random) -> str:
    return f"2025-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"


def _reports(
    rng: Random, products: Table, rules: Table, people: Sequence[str], language: Language
) -> Mapping[str, Table]:
    """Figures about records, largest or smallest first."""

    def by_year(field: str) -> Table:
        rows = {}
        for year in reversed(YEARS):
            counts = sorted(rng.sample(range(20, 400), 3), reverse=True)
            for product, count in zip(rng.sample(list(products), 3), counts, strict=True):
                rows[f"{year}/{product}"] = {"Product": product, field: str(count), "Year": year}
        return rows

    scarce = sorted(products.values(), key=lambda record: int(record["Quantity"]))
    orders = rng.sample(range(100, 900), len(YEARS))
    return {
        "bestseller": by_year("Sold"),
        "viewed": by_year("Views"),
        "sales": _table(
            "Year",
            (
                {"Year": y, "Orders": str(n), "Revenue": f"${n * 61 + 7},{rng.randrange(100, 999)}"}
                for y, n in zip(YEARS, orders, strict=True)
            ),
        ),
        "couponreport": _numbers(rng, "Code", "Uses", list(rules), 3, 95),
        "lowstock": _table(
            "Product",
            (
                {"Product": r["Name"], "Quantity": r["Quantity"], "Category": r["Category"]}
                for r in scarce
            ),
        ),
        "cart": _numbers(rng, "Customer", "Subtotal", rng.sample(people, 8), 1000, 20_000, 100),
        "termreport": _numbers(rng, "Term", "Uses", rng.sample(_TERM[language], 10), 3, 300),
        "reviewreport": _numbers(rng, "Product", "Reviews", list(products), 2, 90),
    }
