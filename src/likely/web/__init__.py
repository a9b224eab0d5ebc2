"""The server: the page of a model and a small API, for this machine alone. The only room that knows fastapi."""
