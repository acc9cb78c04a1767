"""What a user asks for: medoid, outliers, classes, clusters."""
