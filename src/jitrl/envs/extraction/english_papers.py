"""The kinds of document in English."""

from __future__ import annotations

from jitrl.envs.extraction.vocabulary import Paper

PAPERS = (
    Paper(
        "invoice",
        "invoice",
        (
            "[Invoice number|Invoice no|Our invoice] {number}, [dated|issued on] {issued}",
            "[Your order|Order number] {order_no}, [placed on|ordered on] {ordered}",
            "[Net amount|Subtotal] {net}, VAT at {tax_rate}, [VAT amount|tax] {tax}",
            "[Total due|Amount payable] {total}, [payable by|due on|please pay by] {due}",
            "[Contact|Questions to] {contact}, [phone|tel] {phone}, fax {fax}",
        ),
    ),
    Paper(
        "reminder",
        "payment reminder",
        (
            "Dear {customer},",
            "[our invoice|invoice number] {number}, [dated|issued on] {issued}, "
            "[payable by|due on] {due}, is still open.",
            "[Amount payable|Open amount] {total}, [reminder fee|late fee] {fee}",
            "Please [pay or answer by|answer by] {deadline}",
            "[Signed by|Signed] {signer}, [tel|phone] {phone}, mobile {mobile}",
        ),
    ),
    Paper(
        "quotation",
        "quotation",
        (
            "[Quotation no|Offer number] {number}, [issued on|dated] {issued}",
            "For [your item|article] {item}",
            "[Net amount|Net price] {net}, [less a discount of|discount] {discount}, plus tax "
            "of {tax_rate}",
            "[Total price|Gross total] {total}, [down payment|deposit] {deposit}",
            "[Please accept by|Offer open until] {deadline}, [delivery on|we deliver on] "
            "{delivered}",
            "[Contact|Your contact] {contact}, [phone|tel] {phone}",
        ),
    ),
    Paper(
        "order",
        "order confirmation",
        (
            "[Order number|Your order] {order_no}, [placed on|ordered on] {ordered}, "
            "[confirmed on|issued on] {issued}",
            "[Customer number|Your customer no] {customer_no}, [customer|ordered by] {customer}",
            "[Article|Item] {item}",
            "[Subtotal|Net amount] {net}, [shipping|delivery fee] {fee}, "
            "[to pay|total to pay] {total}",
            "[Delivery on|Arrives on] {delivered}, [driver's mobile|mobile] {mobile}",
        ),
    ),
    Paper(
        "delivery",
        "delivery note",
        (
            "[Delivery note no|Note number] {number}, [issued on|dated] {issued}",
            "[Order number|For your order] {order_no}, [ordered on|placed on] {ordered}",
            "[Article|Goods] {item}",
            "[Delivered on|Delivery on] {delivered} [from|between] {begins} [to|and] {ends}",
            "[Received by|Signed by] {signer}, [driver's mobile|mobile] {mobile}, "
            "[depot phone|phone] {phone}",
        ),
    ),
    Paper(
        "meeting",
        "meeting invitation",
        (
            "[Sent on|Invitation of] {issued}",
            "[We meet on|The meeting is on] {start} [from|starting at] {begins} [to|until] {ends}",
            "[Place|Where] {venue}",
            "[Chair|Chaired by] {signer}, [minutes by|contact] {contact}",
            "[Please answer by|Reply until] {deadline}, [phone|tel] {phone}, [dial in|mobile] "
            "{mobile}",
        ),
    ),
    Paper(
        "job",
        "job advertisement",
        (
            "[Reference|Job number] {number}, [published on|posted on] {issued}",
            "We are looking for a {role}",
            "[Starting on|First day] {start}, [limited until|contract ends on] {end}",
            "[Monthly salary|We pay per month] {salary}, [with a bonus of|bonus] {discount}, "
            "[moving allowance|relocation grant] {fee}",
            "[Apply by|Applications until] {deadline} to {contact}, [tel|phone] {phone}, fax {fax}",
        ),
    ),
    Paper(
        "bank",
        "bank letter",
        (
            "Dear {customer}, [letter of|dated] {issued}",
            "[Account number|Your account] {account}, [balance|present balance] {balance}",
            "[From|Starting on] {start} we pay [interest of|a rate of] {interest}, "
            "[instead of|less a tax of] {tax_rate}",
            "[Yearly fee|Account fee] {fee}, [charged on|debited on] {due}",
            "[Your adviser|Contact] {contact}, [phone|tel] {phone}, mobile {mobile}",
        ),
    ),
    Paper(
        "lease",
        "tenancy offer",
        (
            "[Offer number|File number] {number}, [dated|issued on] {issued}",
            "[The flat|Rooms] {venue}, [rent per month|monthly rent] {rent}, "
            "[security deposit|deposit] {deposit}, [agent's fee|fee] {fee}",
            "[Move in on|Starting on] {start}, [fixed until|contract ends on] {end}",
            "[Viewing at|Show round at] {begins}, [please reply by|answer by] {deadline}",
            "[Landlord|Owner] {signer}, [caretaker|contact] {contact}, [mobile|his mobile] "
            "{mobile}",
        ),
    ),
    Paper(
        "booking",
        "hotel booking",
        (
            "[Booking number|Reservation] {number}, [made on|booked on] {ordered}",
            "[Guest|Guest name] {customer}, [room|your room] {venue}",
            "[Arrival|Check in] {start} [from|after] {begins}, [departure|check out] {end} "
            "[until|before] {ends}",
            "[Price of the stay|To pay] {total}, [already paid|deposit] {deposit}, "
            "[city tax|tax] {tax}",
            "[Free to cancel until|Cancel by] {deadline}, [reception|phone] {phone}, fax {fax}",
        ),
    ),
    Paper(
        "insurance",
        "insurance letter",
        (
            "[Policy number|Contract number] {number}, [letter of|dated] {issued}",
            "Dear {customer}, [your cover begins on|insured from] {start}, [and ends on|until] "
            "{end}",
            "[Premium|Yearly premium] {premium}, [payable by|due on] {due}",
            "[You bear yourself|Excess] {excess}, [bonus for no claims|discount] {discount}",
            "[Your adviser|Contact] {contact}, [claims line|mobile] {mobile}, [office|phone] "
            "{phone}",
        ),
    ),
    Paper(
        "clinic",
        "clinic appointment",
        (
            "[Patient|Patient name] {customer}, [patient number|file] {customer_no}",
            "[Booked on|Letter of] {issued}, [appointment on|please come on] {start} at {begins}",
            "[Doctor|You will see] {signer}, [room|where] {venue}",
            "[Own share|Fee] {fee}, [payable by|due on] {due}",
            "[To cancel call|Phone] {phone} [not later than|until] {deadline}, fax {fax}",
        ),
    ),
    Paper(
        "payslip",
        "payslip",
        (
            "[Payslip number|Slip no] {number}, [issued on|dated] {issued}",
            "[Employee|Paid to] {customer}, [position|employed as] {role}",
            "[Gross pay|Pay before tax] {total}, [income tax|tax withheld] {tax} at {tax_rate}, "
            "[net pay|paid out] {net}",
            "[Paid on|Transfer on] {due} [to account|account] {account}",
            "[Payroll office|Questions to] {contact}, [phone|tel] {phone}",
        ),
    ),
    Paper(
        "repair",
        "repair report",
        (
            "[Report number|Repair no] {number}, [issued on|dated] {issued}",
            "[Device|Article] {item}, [bought on|ordered on] {ordered}, [warranty until|"
            "guaranteed until] {end}",
            "[Labor and parts|Net amount] {net}, [tax|VAT amount] {tax}, [to pay|amount payable] "
            "{total}",
            "[Ready on|Collect it on] {delivered} [after|from] {begins}",
            "[Technician|Repaired by] {signer}, [workshop|phone] {phone}, [on the road|mobile] "
            "{mobile}",
        ),
    ),
)
