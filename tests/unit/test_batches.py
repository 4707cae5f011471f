from lexichord.providers.onnx_folder import MAX_FILLER, batches_by_length


def test_a_batch_holds_texts_of_about_one_length() -> None:
    lengths = [9, 100, 8, 9, 101, 8, 9, 30]
    assert list(batches_by_length(lengths, 4)) == [[2, 5, 0, 3], [6], [7], [1, 4]]


def test_each_text_is_in_one_batch_and_little_is_filled_up() -> None:
    lengths = [number * number % 97 for number in range(200)]
    batches = list(batches_by_length(lengths, 8))
    assert sorted(number for batch in batches for number in batch) == list(range(200))
    assert max(map(len, batches)) == 8
    for batch in batches:
        *shorter, longest = (lengths[number] for number in batch)
        assert all(one <= longest for one in shorter)
        assert sum(longest - one for one in shorter) <= MAX_FILLER * len(batch)


def test_of_no_texts_there_is_no_batch() -> None:
    assert not list(batches_by_length([], 8))


def test_long_texts_share_no_more_tokens_than_the_caches_hold() -> None:
    lengths = [200, 300, 200, 512, 170, 900, 170, 170]
    batches = list(batches_by_length(lengths, 8))
    assert [[lengths[n] for n in batch] for batch in batches] == [
        [170, 170, 170],
        [200, 200],
        [300],
        [512],
        [900],
    ]
