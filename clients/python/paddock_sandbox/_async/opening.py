"""What creates a resource: awaited, or entered directly."""

from __future__ import annotations

from types import TracebackType
from typing import Any, AsyncContextManager, Coroutine, Generator, Generic, Optional, Type, TypeVar

T = TypeVar("T", bound=AsyncContextManager[Any])


class Opening(Generic[T]):
    """`x = await opening`, `async with opening as x:` and `async with await opening as x:` are all possible."""

    def __init__(self, creation: Coroutine[Any, Any, T]) -> None:
        self._creation = creation
        self._created: Optional[T] = None

    def __await__(self) -> Generator[Any, Any, T]:
        return self._creation.__await__()

    async def __aenter__(self) -> T:
        self._created = await self._creation
        await self._created.__aenter__()
        return self._created

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> Optional[bool]:
        assert self._created is not None
        return await self._created.__aexit__(kind, error, trace)
