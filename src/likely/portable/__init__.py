"""How a model scores a row as plain values, and that form in other languages.

Imports models. `forms` is the form, `scoring` its reference scorer. Inside: languages/ (SQL, ONNX, PMML, Python).
"""
