"""What a word of a text is: letters, tokens, and lower case, as compiled steps over bytes. Counts nothing."""
