"""Arguments that methods and operations do not have are refused before anything is sent."""

from __future__ import annotations

import functools
import inspect
import typing
from typing import Any, Callable, Dict, Iterable, Mapping, Tuple, TypeVar

from ._fields import CHECKS, FIELDS
from ._forms import require_form
from ._table import ROUTES
from .errors import InvalidArgumentError

C = TypeVar("C", bound=type)
#: Forms of options that are no fields of requests.
_OWN = {
    **{"check": "boolean", "on_stdout": "function", "on_stderr": "function", "max_output": "integer 0"},
    **{"codebase": "string", "keep_codebase": "boolean", "exclude": "strings", "gitignore": "boolean"},
    **{"git_hooks": "boolean", "git": "boolean", "allow": "strings", "only": "function", "hunks": "objects"},
    **{"max_bytes": "integer 0", "dry_run": "boolean"},
}


def require_arguments(operation: str, given: Mapping[str, Any]) -> None:
    """`given`: fields of a request, and options of its call."""
    fields = _fields_of(operation)
    for name in given:
        if name not in fields:
            raise unknown(name, fields)
    for name, form in fields.items():
        require_form(name, given.get(name), form)


@functools.lru_cache(maxsize=None)
def _fields_of(operation: str) -> Dict[str, str]:
    """The form of each field, and of each option of the call."""
    found: Dict[str, str] = {}
    for each in FIELDS[operation].split():
        name = each.rstrip("!")
        wire = name.rstrip("_")
        form = CHECKS.get(f"{operation}.{wire}") or CHECKS.get(wire) or "string"
        found[name] = f"!{form}" if each.endswith("!") else form
    key = {"idempotency_key": "string"} if ROUTES[operation].retry == "key" else {}
    return {**found, "timeout": "duration", "max_retries": "integer 0", **key}


#: Where there is what an option of a method would be.
_ELSEWHERE = {"fork.count": "several sandboxes are forks(count)"}


def unknown(name: str, allowed: Iterable[str], method: str = "") -> InvalidArgumentError:
    """A typing error is not to be taken for a default."""
    hint = _ELSEWHERE.get(f"{method}.{name}")
    more = f"; {hint}" if hint else ""
    return InvalidArgumentError(f"{name} is not a known option; allowed are {', '.join(allowed)}{more}")


def known_options(cls: C) -> C:
    """Makes every public method of the class refuse options that its signature does not have.

    Python's own TypeError would name an inner method, or none. An argument that is missing or given twice is a
    TypeError, as of every function.
    """
    for name, method in list(vars(cls).items()):
        if isinstance(method, classmethod):
            setattr(cls, name, classmethod(_checked(method.__func__)))
        elif inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
            setattr(cls, name, _checked(method))
    return cls


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.lru_cache(maxsize=None)
    def names() -> Tuple[frozenset[str], Tuple[str, ...]]:
        """All that may be given by name, and the options among them."""
        parameters = list(inspect.signature(method).parameters.values())[1:]
        own = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
        rest = [each.annotation for each in parameters if each.kind is each.VAR_KEYWORD]
        more = [name for each in rest for name in typing.get_args(eval(each, method.__globals__))[0].__annotations__]
        options = [each.name for each in own if each.default is not each.empty]
        return frozenset([*(each.name for each in own), *more]), (*options, *more)

    def check(options: Mapping[str, Any]) -> None:
        for name, value in options.items():
            if name not in names()[0]:
                raise unknown(name, names()[1], method.__name__)
            require_form(name, value, _OWN.get(name, "any"))

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        try:
            check(options)
        except InvalidArgumentError as error:
            if hasattr(self, "_refused"):
                self._refused(method.__name__, error)
            raise
        return method(self, *arguments, **options)

    @functools.wraps(method)
    async def call_later(self: Any, *arguments: Any, **options: Any) -> Any:
        check(options)
        return await method(self, *arguments, **options)

    return call_later if inspect.iscoroutinefunction(method) else call
