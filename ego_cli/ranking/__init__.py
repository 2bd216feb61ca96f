"""Candidates to an ordered list in which every number can be explained.

Request -> retrieve (legs, masks, fusion) -> rank (score terms, reasons) -> Ranked
"""
