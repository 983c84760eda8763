"""A cache of compiled programs in the user's cache folder.

Compiling takes seconds and always gives the same result, so later runs read it from the cache. If the program has set a
compilation cache of its own, that one stays. FARRIER_CACHE=off switches the cache off.
"""

import os
import sys
from pathlib import Path

import jax


def folder() -> Path:
    """The folder of the cache: FARRIER_CACHE, or a folder in the cache folder of the operating system."""
    if chosen := os.environ.get("FARRIER_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "farrier" / "compiled"


def keep_compiled_programs() -> None:
    """Switch the cache on, unless it is off or another one is set."""
    if os.environ.get("FARRIER_CACHE") == "off" or jax.config.jax_compilation_cache_dir:  # pyright: ignore[reportAttributeAccessIssue]
        return
    try:
        folder().mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
