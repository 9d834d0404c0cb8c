"""What every kernel stands on: number types, bits, the clock, keys, Huffman's code."""
