"""LINQS's text files: who cites whom, the words and the classes."""

import pytest

from embedprop.datasets.converters import convert_linqs
from embedprop.errors import InvalidGraphError

CONTENT = "b7\t1\t0\t1\tTheory\n007\t0\t0\t0\tAgents\nc\t0\t1\t0\tTheory\n"
# In each line the cited paper comes first; "lost" has no content.
CITES = "b7\t007\n007\tb7\nb7\tc\nc\tc\nlost\tc\nb7\t007\n"


@pytest.fixture
def convert(tmp_path):
    def run(content=CONTENT, cites=CITES):
        (tmp_path / "toy.content").write_text(content)
        (tmp_path / "toy.cites").write_text(cites)
        return convert_linqs(tmp_path / "toy.content", tmp_path / "toy.cites")

    return run


def test_nodes_follow_the_content_and_then_the_citations(convert):
    data = convert()
    assert data.n_nodes == 4
    assert data.original_ids == ["b7", "007", "c", "lost"]


def test_source_cites_target_self_citations_stay_and_doubles_go(convert):
    data = convert()
    assert data.directed is True
    assert data.edges.tolist() == [[0, 1], [1, 0], [2, 0], [2, 2], [2, 3]]


def test_words_and_classes_belong_to_their_papers(convert):
    data = convert()
    assert data.words.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert data.nodes_without_words == [1, 3]
    assert data.class_names == ["Agents", "Theory"]
    assert data.class_rows.tolist() == [[0, 1], [1, 0], [2, 1]]


def test_a_graph_without_lost_papers_is_converted(convert):
    assert convert(cites="b7 c\n").words.shape == (3, 3)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"content": "a\t1\tT\nb\t1\t0\tT\n"}, r"content, line 2: expected an id, 1 words and a"),
        ({"content": "a\tT\n"}, r"content, line 1: expected an id, words and a class"),
        ({"content": "a\t1\tT\n\na\t1\tT\n"}, r"content, line 3: expected a new id"),
        ({"content": "a\tx\tT\n"}, r"content, line 1: expected a number for each word"),
        ({"content": "a\tnan\tT\n"}, r"content, line 1: expected a number for each word"),
        ({"content": "\n"}, r"content: expected papers, got an empty file"),
        ({"cites": "b7\t007\nc\n"}, r"cites, line 2: expected two ids"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(convert, files, message):
    with pytest.raises(InvalidGraphError, match=message):
        convert(**files)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "toy.content").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidGraphError, match="expected text"):
        convert_linqs(tmp_path / "toy.content", tmp_path / "toy.cites")
