"""One module per file format; each gives the file's contents, before they are a mesh of one dimension."""
