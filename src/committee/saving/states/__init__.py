"""Read the fields of a file that predictions depend on, for both `load` and `predictor`.

Each module of this folder defines the states of one kind of model. A state takes its fields from a file,
checks them and makes the predictor. States are registered by the names of their estimators, so a new kind of
model only adds a module here. No module here needs scikit-learn. Estimators read all other fields, such as
importances, themselves.
"""

import importlib
from pathlib import Path

# Importing `pkgutil` takes longer than all these modules.
for _path in sorted(Path(__file__).parent.glob("*_state*.py")):
    importlib.import_module(f"{__name__}.{_path.stem}")
