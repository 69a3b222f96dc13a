import { commentOf, durationsOf, isOptionalTime, isTime, prefixOf } from './client-forms.mjs';

export const SCALARS = { string: 'str', bool: 'bool', bytes: 'bytes', int32: 'int', int64: 'int', uint32: 'int' };
const ZEROS = { string: '""', bool: 'False', bytes: 'b""', int32: '0', int64: '0', uint32: '0' };
const WIDTH = 100;

const HEADER = `"""Messages of the service's answers, and of rules and limits in requests.

Generated from proto/service/v1 by \`npm run generate\`; do not edit. A field that the server does not send has
its default. A word that this version does not know is a text.
"""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta, timezone
from enum import StrEnum
from typing import Mapping, Optional, Tuple

_EPOCH = datetime.fromtimestamp(0, timezone.utc)
`;

/** Returns the Python classes of all enums, and of all messages but requests, whose fields are arguments of methods. */
export function renderPython({ enums, messages }) {
  const durations = durationsOf({ messages });
  const shown = messages.filter((message) => !message.name.endsWith('Request') && !isBare(message));
  const names = [...enums, ...shown].map(({ name }) => `    "${name}",\n`).sort();
  return [
    HEADER,
    `__all__ = [\n${names.join('')}]\n`,
    ...enums.map(renderEnum),
    ...shown.map((message) => renderMessage(message, enums, durations)),
  ].join('\n\n');
}

/** A page of a list, and a piece of bytes: methods return what is in them. */
function isBare({ name, fields }) {
  const [field, ...others] = fields.filter((each) => each.name !== 'next_page_token');
  const isList = name.startsWith('List') && field?.repeated;
  return name.endsWith('Response') && others.length === 0 && (isList || field?.name === 'data');
}

function renderEnum({ name, comment, values }) {
  const members = values.map((value) => {
    const short = value.name.slice(prefixOf({ name, values }).length);
    return `${remark(value.comment)}    ${short} = "${short.toLowerCase()}"\n`;
  });
  return `class ${name}(StrEnum):\n${docstring([comment])}\n${members.join('')}`;
}

function renderMessage({ name, comment, fields }, enums, durations) {
  const own = fields
    .filter(({ isTwin }) => !isTwin)
    .map((field) => {
      const isDuration = durations.has(field.name);
      const comment = isDuration ? field.comment.replace('Seconds', 'Time') : commentOf(field);
      return { ...field, comment, isDuration, isOptional: isOptionalTime(field) };
    });
  const attributes = own.map((field) => `    ${field.name}: ${typeOf(field)} = ${defaultOf(field, enums)}\n`);
  const described = own.flatMap((field) => describe(field));
  const body = attributes.length === 0 ? '' : `\n${attributes.join('')}`;
  const text = described.length === 0 ? [comment] : [comment, '', 'Attributes:', ...described];
  return `@dataclasses.dataclass(frozen=True)\nclass ${name}:\n${docstring(text)}${body}`;
}

/** `isDuration`, `isOptional`: see `durationsOf` and `isOptionalTime`. */
function typeOf(field) {
  const { type, kind, repeated, map, optional, isDuration, isOptional } = field;
  if (isTime(field)) return isOptional ? 'Optional[datetime]' : 'datetime';
  if (isDuration) return 'timedelta';
  const element = kind === 'scalar' ? SCALARS[type] : type;
  if (element === undefined) throw new Error(`fields of type ${type} are not supported`);
  if (map) return `Mapping[str, ${element}]`;
  if (repeated) return `Tuple[${element}, ...]`;
  return optional || kind === 'message' ? `Optional[${element}]` : element;
}

function defaultOf(field, enums) {
  const { type, kind, repeated, map, optional, isDuration, isOptional } = field;
  if (isTime(field)) return isOptional ? 'None' : '_EPOCH';
  if (isDuration) return 'timedelta()';
  if (map) return 'dataclasses.field(default_factory=dict)';
  if (repeated) return '()';
  if (optional || kind === 'message') return 'None';
  if (kind === 'scalar') return ZEROS[type];
  const found = enums.find(({ name }) => name === type);
  return `${type}.${found.values[0].name.slice(prefixOf(found).length)}`;
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
