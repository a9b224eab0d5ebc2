"""Sources around a source: parsed once, repaired, carried between processes. They change how rows come, not rows."""
