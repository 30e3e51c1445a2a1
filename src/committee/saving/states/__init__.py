"""What a file holds of each kind of model that decides: read once, for `load` and for `predictor` alike.

Each module of this folder is about one kind. It says which fields of a file decide, checks them, and makes
the predictor. It registers its states by the names of the classes that keep them, so a learner with a state
of its own adds a module here and nothing else in `saving`. No module here needs scikit-learn. Fields that
decide nothing, such as importances, are the business of the class alone.
"""

import importlib
from pathlib import Path

# Importing `pkgutil` takes longer than all these modules.
for _path in sorted(Path(__file__).parent.glob("*_state*.py")):
    importlib.import_module(f"{__name__}.{_path.stem}")
