"""What is for sale.

    a shop's file -> readers -> Product -> build (one atomic load) -> store.Catalogue: products, columns, lexical, facets

``store`` opens catalogues and ``build`` makes them; ``text`` makes search terms; ``lexical`` ranks by them from the arrays of
``impacts`` (``fulltext`` does when these are stale, ``check`` says so); ``facets`` tells products apart; ``taxonomy``,
``features`` and ``dense`` say what a product is and what it is about; ``reading`` understands strangers' files.
"""
