"""The documentation site: ``make docs`` writes it to site/."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from trilens import __version__

project = "trilens"
author = "The trilens authors"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "fromcode",
]
exclude_patterns = ["conftest.py", "console.py"]
myst_heading_anchors = 3
# an option such as --labels stays as it is typed
smartquotes = False

# docstrings name things in single backquotes; what is public becomes a link
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
# fields of a result: a list, because autodoc describes those with docstrings once more
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"trilens {release}"
html_static_path: list[str] = []
# the pages are read offline too: nothing is loaded from elsewhere
html_show_sphinx = False
html_copy_source = False
