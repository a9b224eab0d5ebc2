"""The portable form written in other languages: SQL, ONNX, PMML, Python. All must score as `Model.terms` does.

Each reads portable forms alone; `export` knows the list, `flatten` makes a form one sum where a language needs that.
"""
