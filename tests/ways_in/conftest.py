"""A PostgreSQL and a Spark of our own, where they can be had."""

from databases.conftest import postgres as postgres
from spark.conftest import spark as spark
