"""What is for sale.

    a shop's file -> readers -> Product -> build (one atomic load) -> store.Catalogue: products, columns, lexical, facets

``store`` opens catalogues; ``text`` makes search terms; ``lexical`` ranks by them (``fulltext`` does when its arrays are stale);
``facets`` tells products apart; ``taxonomy``, ``features`` and ``dense`` say what a product is and what it is about.
"""
