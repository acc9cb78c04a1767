"""What words of the page mean, and what differs from the paper in more than one experiment."""

ABOUT_LENS_MAP = (
    "The lens map is ours, not the paper's: classical scaling of V, smoothed. V of two objects is "
    "the share of the statements about both that call the third object the most central; it "
    "estimates the share of objects in their lens."
)
EMBEDDED = (
    "GNMDS, SOE, STE and t-STE: one random start, then L-BFGS on the coordinates with at most 1000 "
    "iterations; GNMDS too, first with its hinge squared and then as it is. The paper ran public "
    "Matlab and R programs with their default parameters."
)
FOLDS = (
    "The ten folds have equal shares of each class. Of equally good parameters the middle one of "
    "the grid is taken for the SVM, the smallest k for k-NN; the paper does not say."
)
UNLINKED = (
    "An object without an edge in the graph of Algorithm 5 joins the cluster of the object with "
    "which its V is least (V: the share of the statements about both that call the third object "
    "the most central). The paper asks for a k so large that the graph is connected, and does not "
    "say what it does otherwise."
)
TESTED = (
    "Tested collections are T_ALL and T_ALL_REDUCED: they hold the rounds of the survey alone in "
    "which the test triple was answered as expected."
)
ABOUT_CROWD_MEDIAN = (
    "Crowd-Median is the method of Heikinheimo and Ukkonen, which asks for the outlier of three "
    "objects: P(odd) of an object is the share of the statements with it that call it the outlier, "
    "and the medoid has the least."
)
