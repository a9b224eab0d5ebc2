"""What an attribute, or a block of them, says of the class: tables of levels and bins, densities, joint tables."""
