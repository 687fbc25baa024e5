"""Tasks that end with a deed: find a page, press a button, fill in a form."""

from __future__ import annotations

from jitrl.envs.backoffice import drafts as d
from jitrl.envs.backoffice.phrases import BUTTONS, LISTS
from jitrl.envs.backoffice.spec import CATEGORIES, GROUPS, ORDER_STATES, REVIEW_STATES, YEARS
from jitrl.envs.backoffice.templates import Template, template

ERRANDS: tuple[Template, ...] = (
    template(
        "find:list",
        "",
        d.find(LISTS),
        "Show me {what}.; I want to see {what}.",
        "让我看看{what}。；我想看{what}。",
    ),
    template(
        "find:narrow",
        "",
        d.narrow(
            {
                "order": ("Status", ORDER_STATES),
                "customer": ("Group", GROUPS),
                "product": ("Category", CATEGORIES),
                "review": ("Status", REVIEW_STATES),
                "bestseller": ("Year", YEARS),
                "lowstock": ("Category", CATEGORIES),
            }
        ),
        'Show the list "{what}", but only {option}.; List {option} under "{what}".',
        "显示列表“{what}”，但只看{option}。；在“{what}”中列出{option}。",
    ),
    template(
        "find:record",
        "",
        d.open_record(("order", "invoice", "product", "customer", "rule", "block")),
        "Open the {kind} {record}.; Go to the page of the {kind} {record}.",
        "打开{kind} {record}。；转到{kind} {record} 的页面。",
    ),
    template(
        "orders:hold",
        "",
        d.press("order", "Hold", "order"),
        "Put order {order} on hold.; Hold order {order} until further notice.",
        "暂停订单 {order}。；先把订单 {order} 挂起。",
    ),
    template(
        "orders:cancel",
        "",
        d.press("order", "Cancel", "order"),
        "Cancel order {order}.; The customer no longer wants order {order}, so cancel it.",
        "取消订单 {order}。；客户不要订单 {order} 了，请取消。",
    ),
    template(
        "orders:comment",
        "",
        d.write("order", "Comment", "order", d.of(d.NOTES), "Submit Comment"),
        'Add the comment "{text}" to order {order}.; '
        'Leave a comment on order {order} that says "{text}".',
        "给订单 {order} 添加备注“{text}”。；在订单 {order} 上写备注“{text}”。",
    ),
    template(
        "orders:hold_two",
        "",
        d.hold_two,
        "Put the orders {order} and {other} on hold.; Hold both order {order} and order {other}.",
        "暂停订单 {order} 和 {other}。；把订单 {order} 与 {other} 都挂起。",
    ),
    template(
        "catalog:price",
        "",
        d.write("product", "Price", "product", d.price),
        "Change the price of {product} to {text}.; "
        "Set the price of the product {product} to {text}.",
        "把 {product} 的价格改为 {text}。；将商品 {product} 定价为 {text}。",
    ),
    template(
        "catalog:disable",
        "",
        d.choose("product", "Enabled", "No", "product"),
        "Disable the product {product}.; Take {product} out of the shop by disabling it.",
        "停用商品 {product}。；把 {product} 停用，使其下架。",
    ),
    template(
        "catalog:restock",
        "",
        d.restock,
        "Set the price of {product} to {price} and its quantity to {quantity}.; "
        "{product} now costs {price} and there are {quantity} of them: update both.",
        "把 {product} 的价格设为 {price}，数量设为 {quantity}。",
    ),
    template(
        "catalog:new",
        "",
        d.make("product", "Name", "name", d.TITLES, Price="number"),
        'Create a product named "{name}" with the price {price}.; '
        'Add the new product "{name}" for {price}.',
        "新建商品“{name}”，价格为 {price}。；添加价格 {price} 的新商品“{name}”。",
    ),
    template(
        "catalog:hide",
        "",
        d.choose("category", "In Menu", "No", "category"),
        "Take the category {category} out of the shop's menu.; "
        "The category {category} should no longer be in the menu.",
        "把分类 {category} 从商店菜单中去掉。；分类 {category} 不应再出现在菜单里。",
    ),
    template(
        "customers:wholesale",
        "",
        d.choose("customer", "Group", "Wholesale", "customer"),
        "Move the customer {customer} to the wholesale group.; "
        "{customer} buys wholesale now: change the group.",
        "把客户 {customer} 移到批发组。；{customer} 现在是批发客户，请更改分组。",
    ),
    template(
        "customers:group",
        "",
        d.make("group", "Name", "group", d.GROUPS),
        "Create a customer group called {group}.; We need a new customer group, {group}.",
        "新建客户组 {group}。；我们需要一个新的客户组：{group}。",
    ),
    template(
        "reviews:approve",
        "",
        d.approve,
        "Approve the review of {product} that {nickname} wrote.; "
        "{nickname}'s review of {product} is fine: approve it.",
        "通过 {nickname} 对 {product} 的评论。；{nickname} 写的 {product} 评论没问题，请批准。",
    ),
    template(
        "reviews:delete",
        "",
        d.delete_review,
        "Delete the review of {product} by {nickname}.; "
        "Remove what {nickname} wrote in a review about {product}.",
        "删除 {nickname} 对 {product} 的评论。；把 {nickname} 写的 {product} 评论删掉。",
    ),
    template(
        "promotions:new",
        "",
        d.make("rule", "Code", "code", d.CODES, Discount="number", Active="Yes"),
        "Create an active coupon {code} that gives {discount} percent off.; "
        "Make the coupon code {code} with a discount of {discount} percent and activate it.",
        "新建优惠券 {code}，折扣百分之 {discount}，并启用。",
    ),
    template(
        "promotions:off",
        "",
        d.choose("rule", "Active", "No", "code"),
        "Deactivate the coupon {code}.; The coupon {code} must not work any longer.",
        "停用优惠券 {code}。；优惠券 {code} 不能再用了。",
    ),
    template(
        "promotions:discount",
        "",
        d.write("rule", "Discount", "code", d.number(61, 95)),
        "Set the discount of the coupon {code} to {text} percent.; "
        "The coupon {code} should give {text} percent off.",
        "把优惠券 {code} 的折扣设为百分之 {text}。；优惠券 {code} 应打折百分之 {text}。",
    ),
    template(
        "promotions:unsubscribe",
        "",
        d.press("subscriber", "Unsubscribe", "email"),
        "Unsubscribe {email} from the newsletter.; "
        "{email} does not want the newsletter any more: unsubscribe the address.",
        "让 {email} 退订新闻邮件。；{email} 不想再收新闻邮件，请退订。",
    ),
    template(
        "content:rename",
        "",
        d.write("page", "Title", "page", d.of(d.TITLES)),
        'Rename the page "{page}" to "{text}".; Change the title of the page "{page}" to "{text}".',
        "把页面“{page}”改名为“{text}”。；将页面“{page}”的标题改成“{text}”。",
    ),
    template(
        "content:page_off",
        "",
        d.choose("page", "Enabled", "No", "page"),
        'Disable the page "{page}".; Take the page "{page}" offline.',
        "停用页面“{page}”。；让页面“{page}”下线。",
    ),
    template(
        "content:block_off",
        "",
        d.choose("block", "Enabled", "No", "block"),
        'Disable the block "{block}".; The block "{block}" should not be shown any more.',
        "停用区块“{block}”。；区块“{block}”不应再显示。",
    ),
    template(
        "content:new",
        "",
        d.make("page", "Title", "page", d.TITLES),
        'Create a page with the title "{page}".; Add a new page called "{page}".',
        "新建标题为“{page}”的页面。；添加名为“{page}”的新页面。",
    ),
    template(
        "settings:taxrate",
        "",
        d.write("taxrate", "Rate", "region", d.number(13, 40)),
        "Set the tax rate of {region} to {text}.; The tax in {region} is {text} now: change it.",
        "把 {region} 的税率设为 {text}。；{region} 的税率现在是 {text}，请修改。",
    ),
    template(
        "settings:phone",
        "",
        d.config("Store Phone", d.phone),
        "Set the phone number of the store to {text}.; The store can now be called at {text}: "
        "update its phone number.",
        "把商店的电话号码设为 {text}。；商店的新电话是 {text}，请更新。",
    ),
    template(
        "settings:email",
        "",
        d.config("Store Email", d.mail),
        "Set the email address of the store to {text}.; The store is now reached by email at "
        "{text}: update the address.",
        "把商店的邮箱设为 {text}。；商店的新邮箱是 {text}，请更新。",
    ),
    template(
        "settings:required",
        "",
        d.choose("attribute", "Required", "Yes", "attribute"),
        "Make the product attribute {attribute} required.; "
        "The attribute {attribute} must be filled in for each product: make it required.",
        "把商品属性 {attribute} 设为必填。；每个商品都要填属性 {attribute}，请设为必填。",
    ),
    template(
        "system:run",
        "",
        d.run(BUTTONS),
        "{what}.; {what}, please.",
        "{what}。；请{what}。",
    ),
    template(
        "system:flush",
        "",
        d.press("cache", "Flush", "cache"),
        "Flush the cache {cache}.; The cache {cache} is out of date: flush it.",
        "刷新缓存 {cache}。；缓存 {cache} 过期了，请刷新。",
    ),
    template(
        "system:reindex",
        "",
        d.press("index", "Reindex", "index"),
        "Reindex {index}.; The index {index} is stale: reindex it.",
        "重建索引 {index}。；索引 {index} 已陈旧，请重建。",
    ),
    template(
        "system:user_off",
        "",
        d.choose("user", "Active", "No", "user"),
        "Deactivate the admin user {user}.; {user} has left the company: deactivate the account.",
        "停用管理员用户 {user}。；{user} 已离职，请停用其账号。",
    ),
)
