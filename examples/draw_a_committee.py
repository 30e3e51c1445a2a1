"""Draw a committee
================

Show the decisions, the agreement and the errors of five classifiers on two columns of the wine data.

Pictures are Altair charts. A notebook shows them, and `committee.reporting.save_picture` writes files.
"""

# %%
# The committee
# -------------
# Five classifiers vote by the mean of their probabilities, weighted by their accuracies. Each panel shows the
# decisions of a member.

from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from committee import DecisionTreeClassifier, RandomForestClassifier, VotingClassifier, pictures

X, y = load_wine(return_X_y=True, as_frame=True)
X = X[["alcohol", "flavanoids"]]
members = [
    ("linear", make_pipeline(StandardScaler(), LogisticRegression())),
    ("bayes", GaussianNB()),
    ("neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier())),
    ("tree", DecisionTreeClassifier(max_depth=3)),
    ("forest", RandomForestClassifier(random_state=0)),
]
# A weighted rule needs honest votes: those of models that were not fitted on the row.
committee = VotingClassifier(members, rule="cawpe", cv=10, random_state=0).fit(X, y)
chart = pictures.decision_boundaries(committee, X, y)

# %%
# Agreement
# ---------
# Members that rarely agree complement one another.

names = [name for name, _ in members]
honest, truth = committee.honest_votes_, y.to_numpy()[committee.honest_rows_]
chart = pictures.agreement(honest, truth, names=names)

# %%
# Scores
# ------
# The leaderboard compares the committee with its members and with other rules, on honest votes.

chart = committee.leaderboard(rules=["mean", "majority", "greedy"]).plot()
