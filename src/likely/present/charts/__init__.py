"""Charts as SVG, written by hand: drawing (frames, axes, words), bars, lines, histograms, planes."""
