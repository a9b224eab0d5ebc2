"""Words per class and document size: read, counted, tallied, merged and packed, without a document-term matrix."""
