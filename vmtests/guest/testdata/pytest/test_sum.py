def test_sum():
    held = bytearray(40 << 20)
    assert sum(range(10)) == 45 and len(held) == 40 << 20
