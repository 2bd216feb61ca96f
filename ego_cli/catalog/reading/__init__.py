"""Strangers' product files, step by step; ``ego_cli.catalog.readers`` is the door.

    records.py     what readers of every form hand on
    files.py       bytes -> text: encodings, gzip, what is no text at all
    json_form.py   text -> records: JSON in all its shapes
    tables.py      text -> records: CSV and its kin
    names.py       what a column's name proposes
    profiles.py    what its cells look like
    columns.py     what a column is, by name and content
    sale.py        rows that are no products for sale: drafts, lines of totals
    cleaning.py    text cells, lists in cells, cells that say nothing
    prices.py      prices and currencies as shops write them
    ratings.py     ratings and counts
    details.py     bags of named statements
    categories.py  category paths
    rows.py        record -> Product
    offers.py      identical products -> one with several offers

Word lists stand in ``data/columns.toml``.
"""
