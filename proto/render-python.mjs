export const SCALARS = { string: 'str', bool: 'bool', bytes: 'bytes', int32: 'int', int64: 'int', uint32: 'int' };
const ZEROS = { string: '""', bool: 'False', bytes: 'b""', int32: '0', int64: '0', uint32: '0' };
const WIDTH = 100;

const HEADER = `"""Messages of the service's answers, and of rules and limits in requests.

Generated from proto/service/v1 by \`npm run generate\`; do not edit. Times are in Unix seconds. A field
that the server does not send has its default. An unknown value of an enum is kept as a member.
"""

from __future__ import annotations

import dataclasses
from typing import Mapping, Optional, Tuple

from ._enums import ProtoEnum
`;

/** Returns the Python classes of all enums, and of all messages but requests, whose fields are arguments of methods. */
export function renderPython({ enums, messages }) {
  const shown = messages.filter(({ name }) => !name.endsWith('Request'));
  const names = [...enums, ...shown].map(({ name }) => `    "${name}",\n`).sort();
  return [
    HEADER,
    `__all__ = [\n${names.join('')}]\n`,
    ...enums.map(renderEnum),
    ...shown.map((message) => renderMessage(message, enums)),
  ].join('\n\n');
}

/** The beginning that all names of an enum have in common, up to an underscore. Python's members are named without it. */
function prefixOf(values) {
  const [first] = values;
  const prefix = first.name.slice(0, first.name.indexOf('_') + 1);
  return values.every(({ name }) => name.startsWith(prefix)) ? prefix : '';
}

function renderEnum({ name, comment, values }) {
  const prefix = prefixOf(values);
  const members = values.map((value) => {
    const short = value.name.slice(prefix.length);
    return `${remark(value.comment)}    ${short} = "${short.toLowerCase()}"\n`;
  });
  const wire = `    @classmethod\n    def wire_prefix(cls) -> str:\n        return "${prefix}"\n`;
  return `class ${name}(ProtoEnum):\n${docstring([comment])}\n${members.join('')}\n${wire}`;
}

function renderMessage({ name, comment, fields }, enums) {
  const own = fields.filter(({ isTwin }) => !isTwin);
  const attributes = own.map((field) => `    ${field.name}: ${typeOf(field)} = ${defaultOf(field, enums)}\n`);
  const described = own.flatMap((field) => describe(field));
  const body = attributes.length === 0 ? '' : `\n${attributes.join('')}`;
  const text = described.length === 0 ? [comment] : [comment, '', 'Attributes:', ...described];
  return `@dataclasses.dataclass(frozen=True)\nclass ${name}:\n${docstring(text)}${body}`;
}

function typeOf({ type, kind, repeated, map, optional }) {
  const element = kind === 'scalar' ? SCALARS[type] : type;
  if (element === undefined) throw new Error(`fields of type ${type} are not supported`);
  if (map) return `Mapping[str, ${element}]`;
  if (repeated) return `Tuple[${element}, ...]`;
  return optional || kind === 'message' ? `Optional[${element}]` : element;
}

function defaultOf({ type, kind, repeated, map, optional }, enums) {
  if (map) return 'dataclasses.field(default_factory=dict)';
  if (repeated) return '()';
  if (optional || kind === 'message') return 'None';
  if (kind === 'scalar') return ZEROS[type];
  const { values } = enums.find(({ name }) => name === type);
  return `${type}.${values[0].name.slice(prefixOf(values).length)}`;
}

/** The lines of an entry below "Attributes:"; those after the first one are indented. */
function describe({ name, comment }) {
  const [first, ...rest] = comment.split('\n');
  return [`    ${name}: ${first}`, ...rest.map((line) => line && `        ${line}`)];
}

function docstring(lines) {
  const all = lines.flatMap((line) => line.split('\n')).flatMap((line) => wrapped(line, WIDTH - 7));
  const text = all.map((line) => line.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"'));
  if (text.length === 1 && !text[0].endsWith('"')) return `    """${text[0]}"""\n`;
  const [first, ...rest] = text;
  return `    """${first}\n${rest.map((line) => `${line && `    ${line}`}\n`).join('')}    """\n`;
}

function remark(comment) {
  return comment
    .split('\n')
    .flatMap((line) => wrapped(line, WIDTH - 7))
    .map((line) => `    #: ${line}\n`)
    .join('');
}

/** Breaks a line at spaces; the next lines have its indentation, and four more below an attribute's name. */
function wrapped(line, width) {
  const indent = ' '.repeat(line.search(/\S|$/));
  const next = /^ {4}\w+: /.test(line) ? `${indent}    ` : indent;
  const lines = [];
  let rest = line;
  while (rest.length > width) {
    const at = rest.lastIndexOf(' ', width);
    if (at <= next.length) break;
    lines.push(rest.slice(0, at));
    rest = `${next}${rest.slice(at + 1)}`;
  }
  return [...lines, rest];
}
