"""Read and write the file itself: JSON, arrays, checksums and atomic replacement."""
