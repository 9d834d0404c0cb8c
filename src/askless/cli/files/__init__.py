"""Read and write what commands are given and make."""
