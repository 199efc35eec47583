"""What the rules understand: utterances, the calls they lead to, and what is said in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.cli._rules._plan import plan
from partwise.cli._rules._words import Memory
from partwise.messages import AssistantMessage, ToolCallPart
from partwise.stream import Finish, TextDelta, ToolArgsDelta, ToolCallStart
from tests.cli.rules_driver import Conversation, allow, deny

Calls = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text("# Title\n\nhello world\nsecond line\n")
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "a.txt").write_text("one two three\nfour")
    (tmp_path / "notes.txt").write_text("old")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "deep.py").write_text("print('hello')\n")
    return tmp_path


def count(path: str, what: str = "lines") -> tuple[str, dict[str, Any]]:
    return "count", {"path": path, "what": what}


def read(path: str) -> tuple[str, dict[str, Any]]:
    return "read_file", {"path": path}


def search(text: str, path: str = ".") -> tuple[str, dict[str, Any]]:
    return "search_files", {"text": text, "path": path}


def listing(path: str = ".", **pattern: str) -> tuple[str, dict[str, Any]]:
    return "list_files", {"path": path, **pattern}


def write(path: str, text: str, **append: bool) -> tuple[str, dict[str, Any]]:
    return "write_file", {"path": path, "text": text, **append}


def total(expression: str) -> tuple[str, dict[str, Any]]:
    return "calculate", {"expression": expression}


UNDERSTOOD: dict[str, Calls] = {
    # counting
    "count the lines in README.md": [count("README.md")],
    "Count the lines of README.md, please!": [count("README.md")],
    "count the lines in README.md and pyproject.toml": [count("README.md"), count("pyproject.toml")],
    "How long is README.md?": [count("README.md")],
    "how many lines does README.md have?": [count("README.md")],
    'how many words are in "a.txt"?': [count("a.txt", "words")],
    "COUNT THE CHARACTERS IN a.txt": [count("a.txt", "characters")],
    "count lines and words in a.txt and notes.txt": [
        count("a.txt"),
        count("a.txt", "words"),
        count("notes.txt"),
        count("notes.txt", "words"),
    ],
    "count README.md": [count("README.md", "all")],
    "how big is a.txt": [count("a.txt", "all")],
    "I need you to count the lines in a.txt": [count("a.txt")],
    "count lines in the Makefile": [count("Makefile")],
    # reading
    "read a.txt": [read("a.txt")],
    "could you please READ the file A.TXT?": [read("A.TXT")],
    "show README.md": [read("README.md")],
    "open the readme": [read("readme")],
    "cat LICENSE": [read("LICENSE")],
    "print 'my notes.txt'": [read("my notes.txt")],
    "what does a.txt say?": [read("a.txt")],
    "what's in a.txt?": [read("a.txt")],
    "what are the contents of a.txt": [read("a.txt")],
    "tell me what is in a.txt": [read("a.txt")],
    "read a.txt, README.md and notes.txt": [read("a.txt"), read("README.md"), read("notes.txt")],
    "read “a.txt”": [read("a.txt")],
    "read `sub/deep.py`.": [read("sub/deep.py")],
    "a.txt": [read("a.txt")],
    # listing
    "list files": [listing()],
    "ls": [listing()],
    "what files are here?": [listing()],
    "what's in this folder?": [listing()],
    "how many files are there": [listing()],
    "show me the files in sub": [listing("sub")],
    "what is in sub?": [listing("sub")],
    "what's inside the sub folder": [listing("sub")],
    "read sub/": [listing("sub/")],
    "list the python files": [listing(pattern="*.py")],
    "list *.md": [listing(pattern="*.md")],
    "find README.md": [listing(pattern="README.md")],
    # searching
    'search for "hello world"': [search("hello world")],
    "search for hello in README.md": [search("hello", "README.md")],
    "find all mentions of hello": [search("hello")],
    "find the word hello in a.txt": [search("hello", "a.txt")],
    "where is hello?": [search("hello")],
    "grep hello README.md": [search("hello", "README.md")],
    "search README.md for second line": [search("second line", "README.md")],
    "search the files for hello": [search("hello")],
    'look for "hello" in README.md and sub': [search("hello", "README.md"), search("hello", "sub")],
    'search for "read a.txt and count lines"': [search("read a.txt and count lines")],
    "is there hello in README.md?": [search("hello", "README.md")],
    # calculating
    "2+2": [total("2+2")],
    "what is 15% of 80": [total("15/100*80")],
    "what's 2 to the power of 10?": [total("2**10")],
    "calculate (1+2)*3/7": [total("(1+2)*3/7")],
    "how much is 12 times 12": [total("12*12")],
    "what is 3 x 4": [total("3*4")],
    "1,000 + 1": [total("1000 + 1")],
    "7 squared": [total("7**2")],
    "add 2 and 3": [total("2 + 3")],
    "10 divided by 4 minus 1 =": [total("10/4-1")],
    "compute the meaning of life": [total("the meaning of life")],
    # writing
    'write "hello there" to notes.txt': [write("notes.txt", "hello there")],
    'append "milk" to notes.txt': [write("notes.txt", "milk", append=True)],
    "add the line 'foo' to the end of notes.txt": [write("notes.txt", "foo", append=True)],
    "save hello world as notes.txt": [write("notes.txt", "hello world")],
    'put "x" into the file new/y.txt': [write("new/y.txt", "x")],
    'save "x" as "my list.txt"': [write("my list.txt", "x")],
    "create a file todo.txt with the text buy milk": [write("todo.txt", "buy milk")],
    "create todo.txt": [write("todo.txt", "")],
    "overwrite notes.txt with fresh start": [write("notes.txt", "fresh start")],
    "write to new.txt: one\ntwo, then read nothing. Really!": [
        write("new.txt", "one\ntwo, then read nothing. Really!")
    ],
    "write ```python\ndef f():\n    pass\n``` to f.py": [write("f.py", "def f():\n    pass")],
    "write to f.py:\n```\nx = 1\n```": [write("f.py", "x = 1")],
    # several things at once
    "read a.txt and then count its words": [read("a.txt"), count("a.txt", "words")],
    "read a.txt and notes.txt, then count their words": [
        read("a.txt"),
        read("notes.txt"),
        count("a.txt", "words"),
        count("notes.txt", "words"),
    ],
    "Read a.txt. Count its lines. Thank you!": [read("a.txt"), count("a.txt")],
    'write "a" to a.txt and append "b" to it and read it': [
        write("a.txt", "a"),
        write("a.txt", "b", append=True),
        read("a.txt"),
    ],
    "add milk to notes.txt and count the lines in notes.txt": [
        write("notes.txt", "milk", append=True),
        count("notes.txt"),
    ],
    "what is 2+2 and what's in a.txt": [total("2+2"), read("a.txt")],
    "list files in sub and read sub/deep.py": [listing("sub"), read("sub/deep.py")],
    "count the lines in a.txt and count the lines in a.txt": [count("a.txt")],
    # paths that the tools will refuse are handed to the tools
    "read ../secret.txt": [read("../secret.txt")],
    "read /etc/passwd": [read("/etc/passwd")],
    "read .env": [read(".env")],
}


@pytest.mark.parametrize("text", UNDERSTOOD)
async def test_an_utterance_leads_to_its_calls(root: Path, text: str) -> None:
    calls, answer = await Conversation(root).say(text)

    assert calls == UNDERSTOOD[text]
    assert answer


SAID = {
    "count the lines in README.md": "`README.md` has 4 lines.",
    "count the lines in README.md and pyproject.toml": "- `README.md` has 4 lines.\n- `pyproject.toml` has 2 lines.",
    "count a.txt": "`a.txt` has 2 lines, 4 words and 18 characters.",
    "read a.txt": "This is `a.txt`:\n\n```txt\none two three\nfour\n```",
    "list the python files": "In this folder:\n\n- `sub/deep.py` (15 bytes)",
    "list the rust files": "No file named `*.rs` is in this folder.",
    "search for hello in README.md": "I found “hello” in 1 line of 1 file:\n\n- `README.md:3` hello world",
    "search for nothing-like-it": "I found no “nothing-like-it” in 5 files.",
    "2+2": "2+2 = 4",
    "1/3": "1/3 = 1/3, about 0.333333333333",
    "calculate 1/0": "That did not work: '1/0' divides by zero.",
    "read nothing.txt": "That did not work: There is no 'nothing.txt' in the folder. Did you mean notes.txt?",
    'write "x" to new.txt': "I created `new.txt` (2 bytes).",
    'append "x" to notes.txt': "I added 2 bytes to the end of `notes.txt`.",
    'write "x" to notes.txt': "I replaced the content of `notes.txt` (2 bytes).",
    "what time is it?": "It is 03:02 on Monday, 4 May 2026.",
    "thanks!": "You're welcome.",
    "bye": "Goodbye!",
    "read it": "Which file shall I read?",
    "count the words": "Which file shall I count in?",
    'save "x" to it': "Which file shall I write to?",
    "write to notes.txt": 'What shall I write to `notes.txt`? Say for example: `write "some text" to notes.txt`.',
}


@pytest.mark.parametrize("text", SAID)
async def test_an_utterance_gets_its_answer(root: Path, text: str) -> None:
    assert (await Conversation(root).say(text))[1] == SAID[text]


@pytest.mark.parametrize(
    "text",
    ["hello", "Hi there!", "help", "who are you?", "are you an AI?", "tell me a joke", "", "   ", "delete a.txt", "?!"],
)
async def test_it_says_that_it_is_no_language_model(root: Path, text: str) -> None:
    calls, answer = await Conversation(root).say(text)

    assert calls == []
    assert "not a language model" in answer


@pytest.mark.parametrize("text", ["help", "tell me a joke", "don't read a.txt", "make a joke", "summarize README.md"])
async def test_what_it_does_not_know_is_answered_with_what_it_can_do(root: Path, text: str) -> None:
    calls, answer = await Conversation(root).say(text)

    assert calls == []
    assert all(word in answer for word in ("list", "read", "search", "count", "calculate", "write"))


async def test_several_unknown_things_are_named_once_together(root: Path) -> None:
    _, answer = await Conversation(root).say("Sing a song. Dance. Jump. Sleep.")

    assert "“Sing a song”, “Dance” and 2 more" in answer
    assert answer.count("not a language model") == 1


async def test_a_greeting_and_the_time_go_before_the_result(root: Path) -> None:
    calls, answer = await Conversation(root).say("Hello, please count the lines in README.md, and tell me the time")

    assert calls == [count("README.md")]
    assert [paragraph.split()[0] for paragraph in answer.split("\n\n")] == ["Hello!", "It", "`README.md`"]


# ---------------------------------------------------------------- several turns

TALKS: dict[str, list[tuple[str, Calls]]] = {
    "read it again": [("show a.txt", [read("a.txt")]), ("read it again", [read("a.txt")])],
    "its words": [("How long is README.md?", [count("README.md")]), ("and its words?", [count("README.md", "words")])],
    "what about": [
        ("count the words in a.txt", [count("a.txt", "words")]),
        ("what about README.md?", [count("README.md", "words")]),
    ],
    "and": [("read a.txt", [read("a.txt")]), ("and notes.txt?", [read("notes.txt")])],
    "again": [("search for hello in sub", [search("hello", "sub")]), ("once more", [search("hello", "sub")])],
    "them": [
        ("read a.txt and notes.txt", [read("a.txt"), read("notes.txt")]),
        ("count the lines in them", [count("a.txt"), count("notes.txt")]),
        ("append 'x' to it", [write("notes.txt", "x", append=True)]),
    ],
    "over other talk": [
        ("read a.txt", [read("a.txt")]),
        ("thanks", []),
        ("2+2", [total("2+2")]),
        ("count its words", [count("a.txt", "words")]),
    ],
    "as it was found": [("open the readme", [read("readme")]), ("count its lines", [count("README.md")])],
    "the file": [("read a.txt", [read("a.txt")]), ("how many words has the file?", [count("a.txt", "words")])],
}


@pytest.mark.parametrize("talk", TALKS)
async def test_pronouns_and_half_sentences_mean_what_was_mentioned_last(root: Path, talk: str) -> None:
    conversation = Conversation(root)

    assert [(text, (await conversation.say(text))[0]) for text, _ in TALKS[talk]] == TALKS[talk]


# ---------------------------------------------------------------- approvals and tools


async def test_a_write_happens_only_after_a_yes(root: Path) -> None:
    asked: list[str] = []

    def decide(part: ToolCallPart) -> tuple[bool, str | None]:
        asked.append((root / "notes.txt").read_text())
        return allow(part)

    await Conversation(root, decide=decide).say('write "new" to notes.txt')

    assert asked == ["old"]
    assert (root / "notes.txt").read_text() == "new\n"


async def test_a_no_is_respected_and_told(root: Path) -> None:
    _, answer = await Conversation(root, decide=deny).say('write "new" to notes.txt')

    assert answer == "You said no, so I left `notes.txt` as it was."
    assert (root / "notes.txt").read_text() == "old"


async def test_the_reason_of_a_no_is_repeated_and_the_rest_is_done(root: Path) -> None:
    conversation = Conversation(root, decide=lambda _: (False, "not today"))

    _, answer = await conversation.say('append "new" to notes.txt and then read it')

    assert answer.startswith("You said no, so I left `notes.txt` as it was. You said: not today")
    assert "\nold\n" in answer


async def test_a_tool_that_is_not_offered_is_missed_honestly(root: Path) -> None:
    calls, answer = await Conversation(root, tools={}).say("read a.txt and count its words and read notes.txt")

    assert calls == []
    assert answer == "I cannot do that here: the tools `read_file` and `count` are not offered to me."


async def test_a_long_file_is_shown_in_part_and_fences_hold(root: Path) -> None:
    (root / "long.md").write_text("```\ncode\n```\n" + "line of text\n" * 1000)
    (root / "empty.txt").write_text("\n")
    conversation = Conversation(root)

    _, answer = await conversation.say("read long.md")
    _, nothing = await conversation.say("read empty.txt")

    assert answer.startswith("This is `long.md`:\n\n````md\n```\ncode\n```\n")
    assert answer.count("````") == 2
    assert answer.endswith("characters more follow.")
    assert len(answer) < 7000
    assert nothing == "`empty.txt` is empty."


# ---------------------------------------------------------------- the stream


async def test_text_comes_word_by_word_and_arguments_in_small_pieces(root: Path) -> None:
    conversation = Conversation(root)
    await conversation.say("count the lines in README.md and pyproject.toml")
    first, second = conversation.chunks

    assert [chunk.text for chunk in first if isinstance(chunk, TextDelta)][:3] == ["I'll", " count", " the"]
    assert "".join(chunk.text for chunk in second if isinstance(chunk, TextDelta)).endswith("has 2 lines.")
    pieces = [chunk.text for chunk in first if isinstance(chunk, ToolArgsDelta)]
    assert max(map(len, pieces)) <= 6
    assert len(pieces) > 8
    assert (first[-1], second[-1]) == (Finish("tool-calls"), Finish("stop"))


async def test_it_pauses_before_each_piece_as_long_as_it_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("anyio.sleep", sleep)
    conversation = Conversation(root, delay=0.25)
    await conversation.say("2+2")

    pieces = [one for chunks in conversation.chunks for one in chunks if isinstance(one, (TextDelta, ToolArgsDelta))]
    assert pauses == [0.25] * len(pieces)


async def test_calls_that_do_not_wait_for_each_other_are_made_side_by_side(root: Path) -> None:
    conversation = Conversation(root)

    await conversation.say("read a.txt and count its words then read notes.txt")
    starts = [
        [chunk.tool_call_id for chunk in chunks if isinstance(chunk, ToolCallStart)] for chunks in conversation.chunks
    ]

    assert starts == [["a0-0-0", "a0-0-1"], ["a0-1-0"], []]


async def test_a_read_waits_for_the_write_before_it(root: Path) -> None:
    conversation = Conversation(root)

    _, answer = await conversation.say('write "new" to a.txt and read a.txt')

    assert len(conversation.chunks) == 3
    assert "\nnew\n" in answer


async def test_the_same_question_gets_the_same_chunks(root: Path) -> None:
    one, other = Conversation(root), Conversation(root)
    await one.say("read a.txt, search for hello and tell me a joke")
    await other.say("read a.txt, search for hello and tell me a joke")

    assert one.chunks == other.chunks


async def test_text_beyond_ascii_survives_the_arguments(root: Path) -> None:
    await Conversation(root).say("write \"naïve 😀 \\ 'quoted'\" to n.txt")

    assert (root / "n.txt").read_text() == "naïve 😀 \\ 'quoted'\n"


async def test_an_answer_in_the_history_is_a_plain_message(root: Path) -> None:
    conversation = Conversation(root)
    await conversation.say("count the lines in README.md")

    answer = conversation.messages[-1]
    assert isinstance(answer, AssistantMessage)
    assert [part.type for part in answer.content] == ["text", "tool-call", "text"]


# ---------------------------------------------------------------- anything at all

WORDS = st.sampled_from(
    [
        "read",
        "write",
        "append",
        "count",
        "list",
        "search",
        "find",
        "the",
        "it",
        "them",
        "and",
        "then",
        ",",
        ".",
        "?",
        "!",
        ":",
        "a.txt",
        "sub/",
        "README.md",
        '"x"',
        "'",
        "`",
        "```",
        "lines",
        "words",
        "in",
        "to",
        "for",
        "of",
        "what",
        "is",
        "2",
        "+",
        "(",
        "*",
        "again",
        "hello",
        "file",
        "\n",
        "\ue000",
        "/etc",
        "..",
    ]
)


@given(text=st.text(max_size=60) | st.lists(WORDS, max_size=14).map(" ".join))
def test_whatever_is_typed_gives_a_plan(text: str) -> None:
    memory = Memory(files=("b.txt",), calls=(("count", {"path": "b.txt", "what": "words"}),))

    for remembered in (Memory(), memory):
        stages = plan(text, remembered)
        assert stages
        assert all(stages)


NONSENSE = {
    "verbs": "search " * 3000,
    "ands": "and " * 5000,
    "one word": "a" * 20_000,
    "quotation marks": "'" * 5001,
    "a sum": "what is " + "1+" * 5000 + "1",
    "prepositions": "in . " * 5000,
    "fences": "```" * 3001,
    "spaces": "read" + " " * 20_000 + "it",
    "dots": "." * 20_000,
    "slashes": "/" * 20_000,
    "digits": "9" * 20_000,
    "a dictation": "write" + " " * 20_000,
    "words": "read the file and show me what it says " * 500,
}


@pytest.mark.timeout(10)
@pytest.mark.parametrize("text", NONSENSE)
def test_long_nonsense_gets_a_plan_in_bounded_time(text: str) -> None:
    assert plan(NONSENSE[text], Memory())
