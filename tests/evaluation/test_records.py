from embedprop.evaluation.records import append_record, read_records


def test_what_is_appended_is_read_back_in_order(tmp_path):
    path = tmp_path / "results" / "all.jsonl"
    for run in range(3):
        append_record(path, {"run": run})
    assert read_records(path) == [{"run": 0}, {"run": 1}, {"run": 2}]


def test_a_file_that_does_not_exist_has_no_records(tmp_path):
    assert read_records(tmp_path / "none.jsonl") == []


def test_a_line_that_a_crash_cut_short_is_passed_over_and_swallows_nothing(tmp_path):
    path = tmp_path / "all.jsonl"
    append_record(path, {"run": 0})
    with path.open("a") as stream:
        stream.write('{"run": 1, "acc')
    append_record(path, {"run": 2})
    assert read_records(path) == [{"run": 0}, {"run": 2}]
