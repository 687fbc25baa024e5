"""What the shop holds, drawn from a seed: the site's database and the tasks come from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

NOW = datetime(2026, 3, 16, 10, 0, tzinfo=UTC)
"""The site's clock stands here."""

STATUSES = ("Pending", "Being processed", "Shipped", "Complete", "Cancelled")
PIPELINE = {
    "Pending": ("Being processed", "Cancelled"),
    "Being processed": ("Shipped", "Cancelled"),
    "Shipped": ("Complete",),
    "Complete": (),
    "Cancelled": (),
}
"""The statuses that may follow each status of an order."""
NEW, APPROVED, REJECTED = 0, 1, 2  # statuses of reviews

STAFF, SHOPPER = 1, 2  # ids of the two users that are logged in
STAFF_SESSION, SHOPPER_SESSION = "s" * 32, "c" * 32


def listed(text: str) -> tuple[str, ...]:
    """The parts of a text between semicolons."""
    return tuple(text.split(";"))


_NOUNS = {
    "Bags": "Backpack;Tote;Wallet;Satchel;Suitcase;Pouch",
    "Lamps": "Desk Lamp;Floor Lamp;Lantern;Night Light;Candle Holder;Torch",
    "Kitchen": "Teapot;Mug;Kettle;Cutting Board;Bowl;Pan",
    "Garden": "Watering Can;Rake;Bench;Planter;Trowel;Bird House",
    "Games": "Chess Set;Puzzle;Card Game;Yo-Yo;Kite;Domino",
    "Clothing": "Jacket;Scarf;Sweater;Cap;Raincoat;Gloves",
}
CATEGORIES = tuple(_NOUNS)
_ADJECTIVES = listed(
    "Amber;Birch;Cobalt;Coral;Copper;Crimson;Dusty;Emerald;Foggy;Golden;Indigo;Ivory;Jade;Linen;"
    "Maple;Marble;Meadow;Misty;Nordic;Ocean;Olive;Onyx;Pearl;Pine;Rustic;Sandy;Scarlet;Silver;"
    "Smoky;Snowy;Sunny;Teal;Velvet;Violet;Walnut;Willow"
)
_FIRST = listed(
    "Ada;Boris;Carla;Dmitri;Elena;Farid;Greta;Hugo;Irene;Jonas;Keiko;Liam;Mona;Nadia;Oscar;Petra"
)
_LAST = listed(
    "Albers;Brandt;Castro;Dubois;Eriksen;Fuchs;Garcia;Holm;Ivanov;Jansen;Kovacs;Lund;Moreau;Novak;"
    "Okafor;Petrov"
)
_CITIES = listed("Bergen;Cork;Dresden;Evora;Ghent;Lyon;Malmo;Porto;Riga;Turin")
_STREETS = listed("Harbor Road;Mill Lane;Station Street;Garden Way;Church Hill;Park Row")
_TITLES = listed(
    "Just right;Would buy again;Not for me;Broke after a week;Lovely color;Good value;"
    "Smaller than expected;A fine gift;Well made;Too heavy;Arrived late;Exactly as shown"
)
_BODIES = listed(
    "I use it every day.;My sister likes it.;I sent it back.;It looks better than on the picture.;"
    "It does what it should.;The material feels cheap."
)
_VOUCHERS = listed("SPRING;WELCOME;LUCKY;SUNNY;THANKS;HARBOR;MONDAY;FRIEND")
_OFFERS = listed("Bulk Bargain;Family Week;Early Bird;Rainy Days;Clearance Corner;Club Special")
_PAGES = listed("About Us;Shipping and Returns;Contact;Careers;Privacy;Gift Guide")
_PARTNERS = listed("Lakeside Goods;Hilltop Trade;Riverbank Supply")


@dataclass(frozen=True, slots=True)
class Product:
    """One product with its stock record, which has the same id."""

    id: int
    title: str
    category: str
    upc: str
    price: str
    stock: int
    partner: int
    low: int | None = None


@dataclass(frozen=True, slots=True)
class Customer:
    """One customer; the address has the same id."""

    id: int
    first: str
    last: str
    email: str
    phone: str
    street: str
    city: str
    postcode: str
    joined: datetime

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first} {self.last}"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an order."""

    product: Product
    quantity: int

    @property
    def cents(self) -> int:
        """Its price in cents."""
        return round(float(self.product.price) * 100) * self.quantity


@dataclass(frozen=True, slots=True)
class Order:
    """One order; its shipping address has the same id."""

    id: int
    number: str
    customer: Customer
    lines: tuple[Line, ...]
    status: str
    placed: datetime

    @property
    def total(self) -> str:
        """What was paid in all, as ``123.40``."""
        return f"{sum(line.cents for line in self.lines) / 100:.2f}"


@dataclass(frozen=True, slots=True)
class Review:
    """One review of a product."""

    id: int
    product: Product
    customer: Customer
    score: int
    title: str
    body: str
    status: int
    written: datetime


@dataclass(frozen=True, slots=True)
class Voucher:
    """One voucher; its offer, condition and benefit have the id ``id + 100``."""

    id: int
    code: str
    name: str
    percent: int
    additions: int
    orders: int


@dataclass(frozen=True, slots=True)
class Offer:
    """One site-wide offer; its condition and benefit have the same id."""

    id: int
    name: str
    percent: int
    items: int
    status: str


@dataclass(frozen=True, slots=True)
class Shop:
    """All that a seed makes."""

    products: tuple[Product, ...]
    customers: tuple[Customer, ...]
    orders: tuple[Order, ...]
    reviews: tuple[Review, ...]
    vouchers: tuple[Voucher, ...]
    offers: tuple[Offer, ...]
    pages: tuple[str, ...]
    partners: tuple[str, ...]
    basket: tuple[Line, ...]
    wishlist: tuple[Product, ...]

    @property
    def shopper(self) -> Customer:
        """The customer who is logged in to the shop."""
        return self.customers[0]


def make_shop(seed: int) -> Shop:
    """The shop of a seed; the same seed gives the same shop."""
    rng = Random(f"shop/{seed}")
    products = _products(rng)
    customers = _customers(rng)
    orders = _orders(rng, products, customers)
    pairs = [(p, c) for p in products for c in customers[1:]]
    reviews = tuple(
        Review(
            id=301 + i,
            product=product,
            customer=customer,
            score=rng.randint(1, 5),
            title=rng.choice(_TITLES),
            body=rng.choice(_BODIES),
            status=rng.choice((NEW, NEW, APPROVED, APPROVED, REJECTED)),
            written=NOW - timedelta(days=i + 1, minutes=rng.randrange(600)),
        )
        for i, (product, customer) in enumerate(rng.sample(pairs, 30))
    )
    vouchers = tuple(
        Voucher(
            id=401 + i,
            code=f"{code}{rng.randint(10, 99)}",
            name=f"{code.capitalize()} voucher",
            percent=rng.choice((5, 10, 15, 20, 25)),
            additions=rng.randint(10, 60),
            orders=rng.randint(1, 9),
        )
        for i, code in enumerate(rng.sample(_VOUCHERS, 7))
    )
    offers = tuple(
        Offer(601 + i, name, rng.choice((5, 10, 15)), rng.randint(20, 40), "Open")
        for i, name in enumerate(rng.sample(_OFFERS, 5))
    )
    in_stock = [p for p in products if p.stock > 10]
    basket = tuple(Line(p, rng.randint(2, 3)) for p in rng.sample(in_stock, 3))
    taken = {line.product for line in basket}
    wished = rng.sample([p for p in in_stock if p not in taken], 3)
    return Shop(
        products,
        customers,
        orders,
        reviews,
        vouchers,
        offers,
        tuple(rng.sample(_PAGES, len(_PAGES))),
        _PARTNERS,
        basket,
        tuple(wished),
    )


def _products(rng: Random) -> tuple[Product, ...]:
    adjectives = rng.sample(_ADJECTIVES, len(_ADJECTIVES))
    upcs = rng.sample(range(10_000_000, 99_999_999), len(_ADJECTIVES))
    places = [(c, noun) for c, nouns in _NOUNS.items() for noun in listed(nouns)]
    made = []
    for i, (category, noun) in enumerate(places):
        stock = rng.choice((rng.randint(2, 9), rng.randint(11, 140), rng.randint(11, 140)))
        made.append(
            Product(
                id=101 + i,
                title=f"{adjectives[i]} {noun}",
                category=category,
                upc=str(upcs[i]),
                price=f"{rng.randint(4, 120)}.{rng.choice(('00', '50', '90', '99'))}",
                stock=stock,
                partner=rng.randint(1, len(_PARTNERS)),
                low=10 if stock < 10 else None,
            )
        )
    return tuple(made)


def _customers(rng: Random) -> tuple[Customer, ...]:
    lasts = rng.sample(_LAST, len(_LAST))
    made = []
    for i, first in enumerate(rng.sample(_FIRST, len(_FIRST))):
        last = lasts[i]
        made.append(
            Customer(
                id=SHOPPER + i,
                first=first,
                last=last,
                email=f"{first}.{last}@mail.example".lower(),
                phone=f"+4930{rng.randint(1_000_000, 9_999_999)}",
                street=f"{rng.randint(1, 99)} {rng.choice(_STREETS)}",
                city=rng.choice(_CITIES),
                postcode=str(rng.randint(10_000, 99_999)),
                joined=NOW - timedelta(days=rng.randint(20, 700)),
            )
        )
    return tuple(made)


def _orders(
    rng: Random, products: Sequence[Product], customers: Sequence[Customer]
) -> tuple[Order, ...]:
    numbers = rng.sample(range(100_201, 100_999), 36)
    made = []
    for i, number in enumerate(numbers):
        customer = customers[0] if i % 6 == 0 else rng.choice(customers[1:])
        chosen = rng.sample(products, rng.randint(1, 3))
        made.append(
            Order(
                id=201 + i,
                number=str(number),
                customer=customer,
                lines=tuple(Line(product, rng.randint(1, 3)) for product in chosen),
                status=rng.choice(STATUSES),
                placed=NOW - timedelta(days=2 * i + 1, minutes=rng.randrange(600)),
            )
        )
    return tuple(made)
