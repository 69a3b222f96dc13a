import { checksOf, durationsOf, namesOf, prefixesOf, prefixOf } from './client-forms.mjs';
import { argument, DO_NOT_EDIT, flowed, OWN, operationsOf } from './python-operations.mjs';

const TABLE = `"""How the operations of the service are called over HTTP.

${DO_NOT_EDIT}
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

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
  const enumOf = (prefix) => contract.enums.find((each) => prefixOf(each) === prefix).name;
  const prefixes = Object.entries(prefixesOf(contract)).sort();
  const words = prefixes.map(([name, prefix]) => `    "${name}": ("${prefix}", ${enumOf(prefix)}),\n`);
  const maps = new Set(
    contract.messages.flatMap(({ fields }) => fields.filter(({ map }) => map)).map(({ name }) => name),
  );
  const imported = [...new Set(prefixes.map(([, prefix]) => enumOf(prefix)))].sort();
  return (
    `${TABLE.replace('IMPORTED', imported.join(', '))}ROUTES: dict[str, Route] = {\n${rows.join('')}}\n\n` +
    '#: Fields of requests at which streams go on, and those of their messages with the next value.\n' +
    `CURSORS: dict[str, tuple[str, str]] = {\n${cursors.join('')}}\n\n` +
    `#: Lengths of time, by how many of their units are a second.\nDURATIONS: dict[str, int] = {\n${units.join('')}}\n\n` +
    `#: Fields of requests that are words, with what the service puts in front of them.\nWORDS: dict[str, tuple[str, type[StrEnum]]] = {\n${words.join('')}}\n\n` +
    `#: Fields whose keys are the caller's own.\nMAPS = frozenset((${[...maps]
      .sort()
      .map((name) => `"${name}"`)
      .join(', ')}))\n`
  );
}

const FIELDS = `"""The fields of the requests of the service, as callers give them.

${DO_NOT_EDIT}
"""

from __future__ import annotations

`;

/** Returns what `require_arguments` reads. */
export function renderPythonFields(contract, table) {
  const operations = operationsOf(contract, table);
  const constraintsOf = ({ row }) => row.handler.constraints ?? {};
  const fields = operations.map((each) => {
    const { name, rpc, required, subjects, optional } = each;
    const given = [...required, ...subjects, ...optional];
    const isRequired = required.map((field) => field.name);
    const names = namesOf(given, isRequired, constraintsOf(each), argument);
    const line = `    "${name}": "${names}",\n`;
    if (rpc === undefined || line.length <= 121) return line;
    const lines = flowed(names, '         ').trimEnd().split('\n');
    return `    "${name}": (\n${lines.map((each, at) => `        "${each.trim()}${at < lines.length - 1 ? ' ' : ''}"\n`).join('')}    ),\n`;
  });
  const checks = checksOf(
    operations.map((each) => ({ operation: each.name, fields: each.all, constraints: constraintsOf(each) })),
    durationsOf(contract),
  );
  const lines = Object.entries(checks)
    .filter(([at]) => !OWN.has(at))
    .flatMap(([at, check]) => {
      const line = `    "${at}": "${check}",\n`;
      if (line.length <= 121) return [line];
      const parts = check.match(/.{1,90}(\||$)/g);
      return [`    "${at}": (\n${parts.map((part) => `        "${part}"\n`).join('')}    ),\n`];
    });
  return (
    `${FIELDS}#: By operation. "name!": it must not be empty.\nFIELDS: dict[str, str] = {\n${fields.join('')}}\n\n` +
    `#: What they must be, if it is not "string": by name, and by "operation.name".\nCHECKS: dict[str, str] = {\n${lines.join('')}}\n`
  );
}
