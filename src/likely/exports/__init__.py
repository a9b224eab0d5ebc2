"""Exports: a model as SQL, ONNX, PMML, JSON or Python. All are made of the one description that `portable` gives."""
