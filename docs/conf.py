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
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "fromcode",
]
exclude_patterns = ["gallery", "plots/*.ipynb", "**/sg_execution_times.rst"]
myst_heading_anchors = 3
# notebooks are shown with what they printed; the tests run them
nb_execution_mode = "off"
# what is copied has no prompts
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
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
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "plots",
    "filename_pattern": "/plot_",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
}

# the pages are read offline too: nothing is loaded from elsewhere
html_show_sphinx = False
html_copy_source = False
