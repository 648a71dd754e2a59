"""Compiling, vector registers, prefetching, meeting of threads: what knows LLVM."""
