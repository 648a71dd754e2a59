"""A model as a folder: a manifest, vectors as safetensors, names as Parquet; never a pickle."""
