"""What several experiments share: data, grids, methods, and the tables of the cars."""
