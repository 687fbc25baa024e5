"""What is asked for without its name: lists and buttons, described as people speak of them."""

from __future__ import annotations

from collections.abc import Mapping

LISTS: Mapping[str, str] = {
    "review": "what customers wrote about our products",
    "pending": "the reviews that nobody has checked yet",
    "lowstock": "which products are running out",
    "bestseller": "which products sell best",
    "viewed": "which products visitors look at most",
    "termreport": "how often each search term was used",
    "synonym": "which words count as the same in a search",
    "subscriber": "who gets our newsletter",
    "email": "the texts of the emails that the shop sends",
    "rewrite": "which old addresses lead to which new ones",
    "attribute": "the properties that products can have",
    "rating": "by what products are rated",
    "status": "the states that an order can be in",
    "taxreport": "how much tax was collected",
    "taxrule": "by which rules taxes are charged",
    "currency": "the exchange rates",
    "symbol": "the signs used for money",
    "condition": "the legal text that buyers agree to",
    "cart": "the carts that were filled but never paid",
    "accounts": "how many people signed up",
    "sales": "how many orders came in each year",
    "couponreport": "how much each coupon was used",
    "rule": "the coupons",
    "catalogrule": "the price cuts that need no coupon",
    "online": "who is in the shop right now",
    "role": "what each kind of admin user may do",
    "integration": "the programs connected to the shop",
    "theme": "the designs of the shop",
    "backup": "the saved copies of the shop",
    "creditmemo": "the refunds",
    "transaction": "how orders were paid",
    "config": "the phone number and address of the store",
}
"""Kinds by name, and what one finds in their lists."""

BUTTONS: Mapping[tuple[str, str], str] = {
    ("cache", "Flush Cache Storage"): "Empty the whole cache storage",
    ("cache", "Flush Static Files"): "Throw away the static files so that they are made anew",
    ("index", "Reindex All"): "Rebuild all indexes",
    ("backup", "Database Backup"): "Make a backup of the database",
    ("backup", "Media Backup"): "Make a backup of the pictures and other media",
    ("export", "Export Orders"): "Write the orders to a file for download",
    ("export", "Export Customers"): "Write the customers to a file for download",
    ("import", "Check Data"): "Have the file of new products checked",
    ("currency", "Import Rates"): "Fetch the newest exchange rates",
    ("sales", "Refresh Statistics"): "Bring the figures about orders up to date",
    ("letter", "Queue Newsletter"): "Get the next newsletter ready to be sent",
    ("integration", "Reauthorize All"): "Renew the access of all connected programs",
}
"""Kinds and buttons of their lists, and what these are good for."""
