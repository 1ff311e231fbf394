"""Listings ("which papers ...", "list ...", "how many ...", "any work on ..."): the criterion without its framing.

English, and the commonest Chinese forms. Anything that is not asked as a listing gives None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ONE = r"(?:papers?|works?(?!\s+(?:best|better|well|worse|worst|say|says)\b)|stud(?:y|ies)|articles?|abstracts?|publications?|submissions?|literature|research(?:es)?|researchers?|authors)"
_MANY = r"(?:papers|works?(?!\s+(?:best|better|well|worse|worst|say|says)\b)|studies|articles|abstracts|publications|submissions|literature|research|researchers|authors|ones|groups|teams)"
# A verb or "how" before the noun makes a question of fact: "what baselines do the authors use?".
_MOD = r"(?:(?!(?:do|does|did|is|are|was|were|has|have|had|can|could|how|that)\b)[\w/-]+\s+)"
_WISH = r"(?:please\s+)?(?:(?:can|could|would)\s+you\s+(?:please\s+)?|i(?:'d|\s+would)?\s+(?:want|need|like)\s+(?:to\s+(?:see|have)\s+)?)?"
_VERB = (
    r"(?:(?:list|show|find|give|name|enumerate|collect|get|fetch|return|retrieve|see|i'm\s+looking\s+for)\s+(?:me\s+)?"
    r"(?:(?:a|the)\s+(?:\w+\s+)?list\s+of\s+)?)"
)
_STARTS = [
    rf"(?:so\s+|and\s+|now\s+)?(?:in\s+)?(?:which|what)\s+(?:of\s+(?:the|these|those)\s+)?(?P<kind1>{_MOD}{{0,3}}?){_MANY}\b(?!['’])",
    rf"{_WISH}{_VERB}(?:(?:all|every|any|each|some|of|the|other|more)\s+)*(?P<kind2>{_MOD}{{0,3}}?)(?:{_ONE}|everything|anything|those)\b",
    rf"(?:(?:all|every|any|other|more)\s+)+(?P<kind3>{_MOD}{{0,3}}?)(?:{_ONE}|one)\b",
    r"(?:papers|works|studies|articles|publications|abstracts|literature|everything|anything)\b",
    rf"{_WISH}(?:list|enumerate)\s+(?:me\s+)?(?:all|every)\b",
    rf"(?:so\s+|and\s+)?(?:how\s+many|what\s+number\s+of)\s+(?:of\s+(?:the|these|those)\s+)?(?P<kind4>{_MOD}{{0,3}}?){_MANY}\b(?!\s+(?:do|does|did)\s+(?:it|they|we|th\w+)\b)",
    rf"(?:what|which)\s+are\s+(?:all\s+)?(?:the\s+)?(?P<kind8>{_MOD}{{0,3}}?){_MANY}\b",
    rf"i(?:'d|\s+would)?\s+(?:want|need|like)\s+(?:to\s+(?:see|have|read)\s+)?(?:(?:all|any|every|some|the)\s+)*(?P<kind7>{_MOD}{{0,3}}?){_MANY}\b",
    rf"(?:are|is)\s+there\s+(?:(?:any|some|other)\s+)*(?P<kind5>{_MOD}{{0,3}}?)(?:{_ONE}|anything|something(?!\s+(?:wrong|missing|odd|unusual|special)\b)|anyone|someone)\b",
    rf"(?:do|does|did|has|have)\s+(?:any|some)\s+(?:of\s+(?:the|these)\s+)?(?P<kind6>{_MOD}{{0,2}}?)(?:{_ONE}|one)\b",
    rf"(?:do|does)\s+(?:we|you|the\s+\w+|this\s+\w+)\s+(?:have|contain|hold|include|cover)\s+(?:any\s+)?(?:{_ONE}|anything|something)?",
    r"(?:what\s+(?:has\s+been\s+done|have\s+people\s+done|is\s+known|work\s+(?:exists|is\s+there)|is\s+there|do\s+we\s+have|exists))\s+(?=on|about|for|in|with|around|regarding)",
    r"(?:who(?:\s+else)?|has\s+anyone|is\s+anyone|did\s+anyone|does\s+anyone|anyone|anybody)\s+(?:works?|is\s+working|has\s+(?:\w+ed|done\s+\w+)|have|here|uses|use|used|studies|studied|looks?|looked|tried|proposes?|evaluates?|working)\b",
]  # fmt: skip
_START = re.compile(rf"\s*(?:{'|'.join(_STARTS)})\s*", re.IGNORECASE)
_SHORT = re.compile(
    rf"\s*(?P<kind>(?:(?!(?:how|does|do|did)\b)[\w/+-]+\s+){{1,5}}?){_MANY}(?:\s+(?:please|pls|plz|here))?\s*[?.!]*\s*",
    re.IGNORECASE,
)
_CHINESE_PAPER = r"(?:论文|文章|文献|工作|研究|論文|文獻)"
_CHINESE = re.compile(
    rf"有?哪些(?=.{{0,12}}{_CHINESE_PAPER})|(?<=论文|文章|文献|工作|研究|論文|文獻)有?哪些|列出(?=.*{_CHINESE_PAPER})|有?多少篇|"
    rf"有没有(?=.*{_CHINESE_PAPER})"
)
_CHINESE_FRAME = re.compile(
    r"(?:论文|文章|文献|工作|論文|文獻|研究了?|是?关于|是?關於|有关|有關|使用了?|讨论了?|介绍了?|请|所有|的)"
)
_SECOND_SENTENCE = re.compile(
    r"(?<=[\w)])[?.!]+\s+(?:name|list|which|give|show|tell|please|and|how|what|who|i)\b.*$", re.IGNORECASE | re.DOTALL
)
_IF_ANY = re.compile(r",\s+if\s+any,", re.IGNORECASE)
_PLACE = re.compile(
    r"^(?:in|from|within|among|of)\s+(?:the|this|your|our|these)\s+(?:\w+\s+)?(?:corpus|collection|library|set|seeds|proceedings)\s+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[\s,]+(?:(?:are|is)\s+there|there|(?:do|did)\s+(?:you|we)\s+have|(?:in|from|within|among|of)\s+(?:the|this|your|our|these)\s+"
    r"(?:\w+\s+)?(?:corpus|collection|library|papers|abstracts|set|seeds|proceedings|documents|files|list)|in\s+here|here|please|pls|"
    r"plz|if\s+any|at\s+all|and\s+how\s+many|which\s+(?:papers|ones)|name\s+them|list\s+them))?\s*[?.!,;:]*\s*$",
    re.IGNORECASE,
)  # fmt: skip
# Words between the framing and what is asked for: "papers | that are about | EEG".
_LEADING = frozenset(
    """a an the that which who whose where are is was were be been being have has had do does did can could may might
    actually also really already specifically mainly there here you we i of on about with to into in for at from over upon
    around against using by through via regarding concerning towards toward related relating out
    study studies studied studying discuss discusses discussed discussing propose proposes proposed proposing present
    presents introduce introduces introducing use uses used using address addresses addressed addressing tackle tackles
    tackled tackling focus focuses focused focusing investigate investigates investigated investigating explore explores
    explored exploring examine examines examined examining deal deals dealing dealt work works worked working report
    reports reporting mention mentions mentioning cover covers covering concern concerns look looks looked looking apply applies applied
    applying evaluate evaluates evaluated evaluating consider considers considered describe describes develop develops
    developed developing published written talk talks talking treat treats treated involve involves involving rely relies
    relying based contribute contributes offer offers give gives giving provide provides providing test tests tested testing
    run runs running experiment experiments make makes employ employs employing leverage leverages leveraging research
    researches done anything something method methods approach approaches technique techniques model whose topic topics
    subject subjects area field problem problems results result application applications what all
    showing show shows feature features featuring contain contains containing concerned interested relevant dedicated
    devoted""".split()
)  # fmt: skip
_EMPTY_KIND = frozenset(
    "of the a an number these those all any other more different recent new existing published such relevant are me".split()
)
_NOT = re.compile(
    r"[\s,]+(?:but\s+(?:not|don'?t|do\s+not|aren'?t|are\s+not|without)|and\s+(?:do\s+not|don'?t|are\s+not|not)|other\s+than|excluding|"
    r"except(?:\s+for)?|apart\s+from)\s+",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\s*(?:(?:that|which)\s+)?(?:(?:are|is|do|does)\s*(?:not|n['’]t)|(?:are|is|do|does)n['’]?t|not|without)\s+",
    re.IGNORECASE,
)
MAX_ALTERNATIVES = 4


@dataclass(frozen=True, slots=True)
class Criterion:
    """What a listing asks for: `topic` as one phrase, its `alternatives` (any of them suffices), what is `excluded`.

    A listing of every paper ("how many papers are there?") has the topic "" and no alternatives.
    """

    topic: str
    alternatives: tuple[str, ...]
    excluded: str | None = None


def parse_criterion(text: str) -> Criterion | None:
    """The criterion of a listing, or None when the text does not ask for one."""
    if _CHINESE.search(text):
        topic = re.sub(rf"^{_CHINESE_PAPER}$", "", _CHINESE_FRAME.sub("", _CHINESE.sub(" ", text)).strip(" ？?。，"))
        return Criterion(topic, (topic,) if topic else ())
    flat = _SECOND_SENTENCE.sub("", _IF_ANY.sub("", " ".join(text.split())))
    match = _START.match(flat) or (_SHORT.fullmatch(flat) if len(flat.split()) <= 7 else None)
    if match is None:
        return None
    kinds = " ".join(found for found in match.groupdict().values() if found)
    modifiers = " ".join(word for word in kinds.split() if word.lower() not in _EMPTY_KIND)
    rest = "" if match.re is _SHORT else flat[match.end() :]
    negated = _NEGATED.match(rest)
    kept, *after = ("", rest[negated.end() :]) if negated else _NOT.split(rest, maxsplit=1)
    topic = f"{modifiers} {_bare(kept)}".strip()
    return Criterion(
        topic, _alternatives(topic) if topic else (), _bare(after[0]) if after and _bare(after[0]) else None
    )


def _bare(text: str) -> str:
    previous = None
    while previous != text:
        previous = text
        text = _TAIL.sub("", text).strip(" ,;:-")
    words = _PLACE.sub("", text).split()
    if len(words) == 1 and words[0].lower() in ("are", "is", "there", "exist"):
        return ""
    while len(words) > 1 and words[0].strip(",").lower() in _LEADING:
        words = words[1:]
    return " ".join(words)


def _alternatives(topic: str) -> tuple[str, ...]:
    slashed = re.match(r"^(.*?)\b([\w-]+)/([\w-]+)\b(.*)$", topic)
    if slashed:
        return tuple(" ".join(f"{slashed[1]}{part}{slashed[4]}".split()) for part in (slashed[2], slashed[3]))
    parts = [part.strip() for part in re.split(r"\s*,\s*or\s+|\s+or\s+|\s*,\s+", topic) if part.strip()]
    if len(parts) < 2 or not re.search(r"\bor\b", topic) or len(parts) > MAX_ALTERNATIVES:
        return (topic,)
    parts = [" ".join(_bare(part).split()) for part in parts]
    first = parts[0].split()[0].lower()
    if first in ("new", "novel"):  # "a new benchmark or dataset": both are new
        parts = [parts[0], *(f"{first} {part}" for part in parts[1:])]
        return tuple(parts)
    head = parts[-1].split()
    # "image or video generation": a lone singular before "or" borrows the head of the last part; plurals stand alone.
    if len(head) > 1 and all(len(part.split()) == 1 and not part.endswith("s") for part in parts[:-1]):
        borrowed = [f"{part} {' '.join(head[1:])}" for part in parts[:-1]]
        return (*borrowed, parts[-1])
    # "image classification or recognition": the single last word borrows the modifiers of the first part.
    first = parts[0].split()
    if len(parts) == 2 and len(head) == 1 and len(first) > 1:
        return (parts[0], " ".join([*first[:-1], head[0]]), head[0])
    return tuple(parts)
