"""agekeep: the memory of AI agents as signed commits in an encrypted repository.

The package brings the program `agekeep`. With the extra `anthropic` it also has `AgekeepMemory` and
`AsyncAgekeepMemory`, which are the memory tool for Anthropic's SDK.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from agekeep.memory import AgekeepError, AgekeepMemory, AsyncAgekeepMemory

__all__ = ["AgekeepError", "AgekeepMemory", "AsyncAgekeepMemory"]


def bundled() -> Optional[str]:
    """The path of the program that the package brings."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "agekeep")
    return path if os.path.isfile(path) else None


def __getattr__(name: str) -> Any:
    # Looked up when it is asked for, because the program needs no SDK.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from agekeep import memory
    except ModuleNotFoundError as error:
        if error.name != "anthropic":
            raise
        raise ImportError(f"{name} needs an SDK: pip install 'agekeep[anthropic]'") from error
    return getattr(memory, name)
