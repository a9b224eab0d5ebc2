"""The portable form written in other languages: SQL, ONNX, PMML, Python. All must score as `Model.terms` does."""
