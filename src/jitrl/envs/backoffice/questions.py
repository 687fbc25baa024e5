"""Tasks that end with an answer: read a value, name a record, count."""

from __future__ import annotations

from jitrl.envs.backoffice import drafts as d
from jitrl.envs.backoffice.spec import CATEGORIES, GROUPS, ORDER_STATES, REVIEW_STATES, YEARS
from jitrl.envs.backoffice.templates import Template, template

QUESTIONS: tuple[Template, ...] = (
    template(
        "orders:total",
        "value",
        d.ask("order", "Grand Total", "order"),
        "What is the grand total of order {order}?; How much was paid in all for order {order}?",
        "订单 {order} 的总计金额是多少？；订单 {order} 一共付了多少钱？",
    ),
    template(
        "orders:email",
        "value",
        d.ask("order", "Email", "order"),
        "What is the email of the customer who placed order {order}?; "
        "Which email address belongs to order {order}?",
        "下订单 {order} 的客户的邮箱是什么？；订单 {order} 对应哪个邮箱？",
    ),
    template(
        "orders:tracking",
        "value",
        d.ask("shipment", "Tracking Number", "shipment"),
        "What is the tracking number of shipment {shipment}?; "
        "Under which number can shipment {shipment} be tracked?",
        "发货单 {shipment} 的运单号是什么？；用哪个单号可以追踪发货单 {shipment}？",
    ),
    template(
        "orders:amount",
        "value",
        d.ask("invoice", "Amount", "invoice"),
        "What is the amount of invoice {invoice}?; How much does invoice {invoice} come to?",
        "发票 {invoice} 的金额是多少？；发票 {invoice} 开了多少钱？",
    ),
    template(
        "orders:count",
        "count",
        d.count("order", "Status", ORDER_STATES),
        "How many orders have the status {status}?; Count the orders that are {status}.",
        "状态为{status}的订单有几个？；数一数{status}的订单。",
    ),
    template(
        "orders:count_of",
        "count",
        d.count_of("order", "Customer", "Status", ORDER_STATES),
        "How many orders with the status {status} does {customer} have?; "
        "Count the {status} orders of {customer}.",
        "{customer} 有几个状态为{status}的订单？；数一数 {customer} 的{status}订单。",
    ),
    template(
        "catalog:stock",
        "value",
        d.ask("product", "Quantity", "product"),
        "How many units of {product} are in stock?; What quantity of {product} is left?",
        "{product} 的库存有多少件？；{product} 还剩多少？",
    ),
    template(
        "customers:phone",
        "value",
        d.ask("customer", "Phone", "customer"),
        "What is the phone number of {customer}?; Under which number can {customer} be called?",
        "{customer} 的电话号码是什么？；打哪个电话能找到 {customer}？",
    ),
    template(
        "customers:count",
        "count",
        d.count("customer", "Group", GROUPS),
        "How many customers are in the group {group}?; Count the customers of the {group} group.",
        "{group}组里有几位客户？；数一数{group}组的客户。",
    ),
    template(
        "reviews:count",
        "count",
        d.count("review", "Status", REVIEW_STATES),
        "How many customer reviews have the status {status}?; Count the reviews that are {status}.",
        "状态为{status}的客户评论有几条？；数一数{status}的评论。",
    ),
    template(
        "reviews:count_of",
        "count",
        d.count_of("review", "Product", "Status", REVIEW_STATES),
        "How many reviews of {product} have the status {status}?; "
        "Count the {status} reviews about {product}.",
        "{product} 有几条状态为{status}的评论？；数一数 {product} 的{status}评论。",
    ),
    template(
        "reports:bestseller",
        "name",
        d.first("bestseller", "Year", YEARS),
        "Which product sold best in {year}?; Name the best-selling product of {year}.",
        "{year} 年最畅销的商品是哪个？；说出 {year} 年卖得最好的商品。",
    ),
    template(
        "reports:lowstock",
        "name",
        d.first("lowstock", "Category", CATEGORIES),
        "Which product of the category {category} is lowest in stock?; "
        "Of the {category}, which product has the lowest stock?",
        "{category}分类中库存最低的商品是哪个？；{category}里哪个商品存货最少？",
    ),
    template(
        "reports:revenue",
        "value",
        d.ask_list("sales", "Revenue", "year"),
        "How much revenue did all orders bring in {year}?; What was the revenue of {year}?",
        "{year} 年所有订单的收入是多少？；{year} 年营收多少？",
    ),
    template(
        "reports:uses",
        "value",
        d.ask_list("couponreport", "Uses", "code"),
        "How often was the coupon {code} used?; Report the uses of the coupon {code}.",
        "优惠券 {code} 被使用了多少次？；报告优惠券 {code} 的使用次数。",
    ),
    template(
        "reports:cart",
        "value",
        d.ask_list("cart", "Subtotal", "customer"),
        "What is the subtotal of the cart that {customer} abandoned?; "
        "{customer} left a full cart behind. What is its subtotal?",
        "{customer} 遗弃的购物车小计是多少？；{customer} 留下一个购物车没结账，小计多少？",
    ),
    template(
        "reports:term",
        "value",
        d.ask_list("termreport", "Uses", "term"),
        'How often did visitors search for "{term}"?; Report the uses of the search term "{term}".',
        "访客搜索“{term}”多少次？；报告搜索词“{term}”的使用次数。",
    ),
    template(
        "reports:reviews",
        "value",
        d.ask_list("reviewreport", "Reviews", "product"),
        "How many reviews has {product} had in all?; Report the number of reviews of {product}.",
        "{product} 一共有多少条评论？；报告 {product} 的评论总数。",
    ),
    template(
        "settings:currency",
        "value",
        d.ask_list("currency", "Rate", "currency"),
        "What is the rate for {currency} in the shop?; "
        "Which rate does the shop use for {currency}?",
        "商店里 {currency} 的汇率是多少？；商店对 {currency} 用什么汇率？",
    ),
)
