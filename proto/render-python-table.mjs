import { DO_NOT_EDIT, durationsOf, operationsOf } from './python-operations.mjs';

const TABLE = `"""How the operations of the service are called over HTTP.

${DO_NOT_EDIT}
"""

from __future__ import annotations

from typing import NamedTuple

from ._enums import ProtoEnum
from .messages import IMPORTED


class Route(NamedTuple):
    """Where an operation is, and how it may be repeated.

    Attributes:
        kind: Form of request and answer: "unary", "events", "raw", "bytes" or "download".
        retry: "read" and "same" have no further effect; "key" has none with an idempotency key; "again" takes effect
            again.
        query: Query parameter that the path is used with.
        timed: Whether the request has a field "timeout".
    """

    method: str
    path: str
    kind: str
    retry: str
    query: str = ""
    timed: bool = False


`;

/** Returns the table of operations, and what names of fields mean. */
export function renderPythonTable(contract, table) {
  const operations = operationsOf(contract, table);
  const rows = operations.map(({ name, row, isTimed }) => {
    const { method, path, kind, retry, query } = row;
    const more = `${query ? `, query="${query}"` : ''}${isTimed ? ', timed=True' : ''}`;
    return `    "${name}": Route("${method}", "${path}", "${kind}", "${retry}"${more}),\n`;
  });
  const cursors = operations
    .filter(({ row }) => row.cursor)
    .map(({ name, row: { cursor } }) => `    "${name}": ("${cursor.from}", "${cursor.id}"),\n`);
  const units = [...durationsOf(contract)].sort().map(([name, unit]) => `    "${name}": ${unit},\n`);
  const words = [...wordsOf(contract)].sort().map(([name, type]) => `    "${name}": ${type},\n`);
  const maps = new Set(
    contract.messages.flatMap(({ fields }) => fields.filter(({ map }) => map)).map(({ name }) => name),
  );
  const imported = [...new Set(wordsOf(contract).values())].sort();
  return (
    `${TABLE.replace('IMPORTED', imported.join(', '))}ROUTES: dict[str, Route] = {\n${rows.join('')}}\n\n` +
    '#: Fields of requests at which streams go on, and those of their messages with the next value.\n' +
    `CURSORS: dict[str, tuple[str, str]] = {\n${cursors.join('')}}\n\n` +
    `#: Lengths of time, by how many of their units are a second.\nDURATIONS: dict[str, int] = {\n${units.join('')}}\n\n` +
    `#: Fields of requests that are words.\nWORDS: dict[str, type[ProtoEnum]] = {\n${words.join('')}}\n\n` +
    `#: Fields whose keys are the caller's own.\nMAPS = frozenset((${[...maps]
      .sort()
      .map((name) => `"${name}"`)
      .join(', ')}))\n`
  );
}

/** Fields of requests, and of messages in them, whose type is an enum. A name means the same in all of them. */
function wordsOf({ messages, enums }) {
  const byName = new Map(messages.map((message) => [message.name, message]));
  const found = new Map();
  const seen = new Set();
  const visit = ({ name, fields }) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const field of fields) {
      const type = field.kind === 'enum' ? field.type : '';
      if ((found.get(field.name) ?? type) !== type)
        throw new Error(`${name}.${field.name} must be ${found.get(field.name)}`);
      found.set(field.name, type);
      if (field.kind === 'message') visit(byName.get(field.type) ?? { fields: [] });
    }
  };
  messages.filter(({ name }) => name.endsWith('Request')).forEach(visit);
  return new Map([...found].filter(([, type]) => enums.some(({ name }) => name === type)));
}
