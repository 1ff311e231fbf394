"""citewise: ask a pile of paper abstracts; every sentence of the answer points at the words it rests on."""
