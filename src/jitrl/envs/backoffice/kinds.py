"""What a kind of record is, and the kinds that no task is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Options = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of record: its list, its page and its form.

    Attributes:
        name: Name of its table.
        label: The list's name in the menu.
        path: Path of the list in URLs.
        columns: Fields shown in the list; the first names a record.
        one: Title of a record's page; "" if records have no page of their own.
        fields: Fields shown on a record's page, apart from those that can be edited.
        edit: Fields that can be edited there.
        options: Values of the fields that are chosen, not typed.
        filter: Field by whose options the list can be narrowed.
        buttons: Buttons of a record's page, and the field and value that each sets.
        save: Name of the button that saves the form.
        new: Fields of the form for a new record; () if there is no such form.
        value: Column whose cells are offered as answers to questions for a value.
        source: Table that the list is a view of; "" if it has its own.
        where: Field and value of the records in that view.
        single: There is one record and no list.
        bulk: Buttons of the list that do something to all of it.
        rows: Records of a list that no task is about.
    """

    name: str
    label: str
    path: str
    columns: Options
    one: str = ""
    fields: Options = ()
    edit: Options = ()
    options: Mapping[str, Options] = field(default_factory=dict)
    filter: str = ""
    buttons: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    save: str = "Save"
    new: Options = ()
    value: str = ""
    source: str = ""
    where: tuple[str, str] = ("", "")
    single: bool = False
    bulk: Options = ()
    rows: tuple[Options, ...] = ()

    @property
    def table(self) -> str:
        """Name of the table the list shows."""
        return self.source or self.name

    @property
    def key(self) -> str:
        """The field that names a record."""
        return self.columns[0]


def _still(line: str) -> Kind:
    """A list of records without pages of their own, and its buttons after ``!``."""
    name, label, path, *rest = line.split("; ")
    rows = tuple(tuple(row.split("|")) for row in rest if not row.startswith("!"))
    bulk = tuple(button[1:] for button in rest if button.startswith("!"))
    return Kind(name, label, path, ("Name", "Value"), value="Value", rows=rows, bulk=bulk)


STILL: Mapping[str, Kind] = {
    kind.name: kind
    for kind in map(
        _still,
        """\
creditmemo; Credit Memos; sales/creditmemo; 7001|$12.00; 7002|$48.50
transaction; Transactions; sales/transactions; TX-81|PayPal; TX-82|Card
online; Now Online; customer/online; Visitor 31|/bags; Visitor 32|/
catalogrule; Catalog Price Rules; promo/catalog; Spring|10%; Clearance|30%
email; Email Templates; email/template; New Order|1; Welcome|4
letter; Newsletter Templates; newsletter/template; May News|3; Sale|8; !Queue Newsletter
rewrite; URL Rewrites; admin/url_rewrite; /sale|/promo; /new|/arrivals
term; Search Terms; search/term; tee|12 results; gift|0 results
synonym; Search Synonyms; search/synonyms; tee|shirt; bag|tote
widget; Widgets; admin/widget; Footer Links|Home; Banner|Home
theme; Themes; admin/theme; Luma|Store; Blank|Store
schedule; Schedule; admin/design; Winter|December; Summer|June
taxreport; Tax Report; reports/sales/tax; Q1|$310.00; Q2|$295.40
accounts; New Accounts; reports/customer/accounts; May|14; June|9
store; All Stores; admin/system_store; Main Store|en; Outlet|en
condition; Terms and Conditions; checkout/agreement; General|On; B2B|Off
status; Order Status; sales/order_status; pending|Pending; holded|On Hold
taxrule; Tax Rules; tax/rule; Retail|8.25; Food|1.00
symbol; Currency Symbols; admin/system_currencysymbol; EUR|€; GBP|£
set; Attribute Sets; catalog/product_set; Default|9; Bag|12
rating; Ratings; review/rating; Quality|1; Value|2
import; Import; admin/import; products.csv|Done; stock.csv|Done; !Check Data
export; Export; admin/export; orders.csv|Ready; users.csv|Ready; !Export Orders; !Export Customers
integration; Integrations; admin/integration; ERP|Active; Mailer|Inactive; !Reauthorize All
backup; Backups; backup/index; May 2|12 MB; May 9|13 MB; !Database Backup; !Media Backup
role; User Roles; admin/user_role; Administrators|3; Editors|2
variable; Custom Variables; admin/system_variable; free_from|50; vat_id|none
""".splitlines(),
    )
}
"""Kinds that are hardly more than looked at: name, label, path, rows and buttons."""
