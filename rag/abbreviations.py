"""Abbreviations in brackets and the words they stand for."""

from __future__ import annotations

import re

GENERIC = frozenset(
    (
        "AI ML DL NLP CV RL LLM LM SLM VLM MLLM LVLM GPT BERT CLIP GNN GCN CNN RNN LSTM GAN VAE DM SSM MLP DNN NN "
        "MOE LORA PEFT SFT RLHF DPO PPO SGD SAM KL ELBO SOC ODE SDE PDE NODE MDP POMDP MARL MCMC OT EOT GP PCA ICL "
        "COT RAG QA VQA MT ASR TTS EEG FMRI MRI CT OOD ID IID SOTA GPU CPU API FM CFG AR NERF SLAM GCD CBM CE FL "
        "DP PAC SQ NTK UQ TTA UDA CL DRL IL BC KD NAS HPO BO SVM RKHS FFN KV MHA VIT DIT LDM DDPM DDIM SNN "
        "GFLOWNET 3DGS INR XAI GNNS AUC MSE WER SE LTL SFM STE AHRS IBVS EKF UKF MPC LQR ILQR IMU RRT PRM HMM CRF "
        "LDA NMF EM ICP VIO BEV NMS STFT MFCC CTC DTW DMP PID"
    ).split()
)
"""Upper-case abbreviations of the field at large, which are no paper's own name."""

_WORD = re.compile(r"[^\s,;:()]+")


def expansion_start(text: str, begin: int, end: int, abbreviation: str) -> int | None:
    """Offset in `text` where the words that `abbreviation` stands for begin; they end at `end`. None if there are none.

    Each letter of the abbreviation is looked for from right to left, the first one at the beginning of a word or
    part of one (Schwartz and Hearst 2003), within min(n + 5, 2n) words and not before `begin`; capitalised words
    directly before belong to the name. Failing that, a run of at least two capitalised words with the same first
    letter is taken.
    """
    letters = re.sub(r"[^A-Za-z]", "", abbreviation).lower()
    words = list(_WORD.finditer(text, begin, end))
    aligned = _aligned(text, begin, end, letters)
    if aligned is None and letters.endswith("s") and abbreviation.endswith("s"):
        aligned = _aligned(text, begin, end, letters[:-1])
    if aligned is not None:
        inside = [word for word in words if word.end() > aligned]
        if 1 < len(inside) <= min(len(letters) + 5, 2 * len(letters)):
            return _extended(text, begin, inside[0].start(), words)
        if len(inside) == 1 and "-" in inside[0][0]:
            return inside[0].start()
    return _capital_run(text, words, end, letters)


def _aligned(text: str, begin: int, end: int, letters: str) -> int | None:
    at = end
    for position in range(len(letters) - 1, -1, -1):
        at -= 1
        while at >= begin and not (
            text[at].lower() == letters[position] and (position or at == begin or not text[at - 1].isalnum())
        ):
            at -= 1
        if at < begin:
            return None
    return at if letters else None


def _extended(text: str, begin: int, start: int, words: list[re.Match[str]]) -> int:
    for word in reversed([word for word in words if word.end() <= start]):
        if word.start() <= begin and begin == 0:
            break
        if not word[0][0].isupper() or text[word.end() : start].strip() or word[0] in ("The", "A", "An", "Our"):
            break
        start = word.start()
    return start


def _capital_run(text: str, words: list[re.Match[str]], end: int, letters: str) -> int | None:
    start, count = end, 0
    for word in reversed(words):
        if not word[0][0].isupper() or text[word.end() : start].strip():
            break
        start, count = word.start(), count + 1
    return start if count >= 2 and text[start].lower() == letters[:1] else None
