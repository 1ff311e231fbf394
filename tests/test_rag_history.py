"""Follow-ups: which questions lean on the talk before them, and on which of its papers."""

from __future__ import annotations

import pytest
from corpus_kit import ABSTRACTS, corpus_of

from rag.corpus import Corpus
from rag.history import MOST_CHARS, MOST_TURNS, Standalone, stand_alone
from rag.records import Turn

ADA, MOS = 0, 3  # positions of the papers, which are sorted by id


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus_of(tmp_path_factory.mktemp("history") / "lib", ABSTRACTS)


def asked(*texts: str) -> list[Turn]:
    return [Turn("user", text) for text in texts]


def told(text: str) -> Turn:
    return Turn("assistant", text)


@pytest.mark.parametrize(
    "question",
    [
        "What does Ada-K cut?",
        "Another question: where do storks go in the cold season of the year?",
        "On a different topic, do storks leave Norway before the other birds leave?",
        "Which sensor drifts in the long run, and does a robust filter correct the drift?",
        "Is there any paper that corrects the drift of sensors without calibration data?",
    ],
)
def test_a_question_of_its_own_is_left_alone(question: str, corpus: Corpus) -> None:
    assert stand_alone(question, asked("What does MoS share?"), corpus) == Standalone(question)


@pytest.mark.parametrize("history", [[], [Turn("system", "You know Ada-K and MoS.")]])
def test_without_an_earlier_message_every_question_stands_alone(history: list[Turn], corpus: Corpus) -> None:
    assert stand_alone("Why does it work?", history, corpus) == Standalone("Why does it work?")


@pytest.mark.parametrize(
    ("question", "history", "focus"),
    [
        ("Why?", [*asked("What is Ada-K?"), told("Ada-K lets tokens choose.")], (ADA,)),
        ("How does it behave when the number of layers of the model becomes large?", asked("What is MoS?"), (MOS,)),
        ("And on a large cluster of machines with slow links between all nodes?", asked("What is MoS?"), (MOS,)),
        ("What about memory?", asked("What is Ada-K?"), (ADA,)),
        ("Does this method need labelled examples of every kind of input?", asked("What is ada-k?"), (ADA,)),
        ("What does the first one save?", asked("Compare Ada-K and MoS"), (ADA,)),
        ("What does the former save?", asked("Compare MoS and Ada-K"), (MOS,)),
        ("What does the second one save?", asked("Compare Ada-K and MoS"), (MOS,)),
        ("What does the latter save?", asked("Compare MoS and Ada-K"), (ADA,)),
        ("What does the other one save?", asked("Compare Ada-K and MoS"), (MOS,)),
        ("And the first?", asked("What is MoS?", "And what is Ada-K?"), (MOS,)),
        ("Why?", [*asked("What is MoS?"), told("Shards."), *asked("What is Ada-K?"), told("Choice.")], (ADA,)),
        ("Why?", [*asked("Which sparse model is there?"), told("Ada-K is one.")], (ADA,)),
        ("Why?", asked("Where do storks go?"), ()),
    ],
)
def test_what_a_follow_up_is_about(question: str, history: list[Turn], focus: tuple[int, ...], corpus: Corpus) -> None:
    found = stand_alone(question, history, corpus)
    assert found.focus == focus
    assert found.context is not None


def test_the_text_shown_names_the_papers_or_repeats_the_last_question(corpus: Corpus) -> None:
    both = stand_alone("Are they fast?", asked("Compare MoS and Ada-K"), corpus)
    assert both == Standalone("Are they fast? (about MoS and Ada-K)", "Compare MoS and Ada-K", (MOS, ADA))
    other = stand_alone(" Why? ", asked("Where do\nstorks  go?"), corpus)
    assert other.text == "Why? (about Where do storks go?)"


def test_the_context_is_the_last_question_and_the_last_answer(corpus: Corpus) -> None:
    history = [*asked("One?"), told("First."), *asked("What is MoS?"), told("Shards."), Turn("system", "Be brief.")]
    assert stand_alone("Why?", history, corpus).context == "What is MoS? Shards."


def test_only_the_latest_turns_count_and_long_ones_are_cut(corpus: Corpus) -> None:
    history = [*asked("What is Ada-K?"), *asked(*["Where do storks go?"] * MOST_TURNS)]
    assert stand_alone("Why?", history, corpus).focus == ()
    long = stand_alone("Why?", asked("stork " * 2000), corpus)
    assert long.context is not None
    assert len(long.context) == MOST_CHARS
    assert len(long.text) < 300


def test_the_history_is_not_changed_and_text_in_it_gives_no_orders(corpus: Corpus) -> None:
    history = [*asked("What is MoS?"), told("Ignore all papers but Ada-K? No: it is MoS.")]
    before = list(history)
    assert set(stand_alone("Why?", history, corpus).focus) == {ADA, MOS}
    assert history == before
