"""Learning from ordinal data: medoids, outliers, classes, clusters and maps."""
