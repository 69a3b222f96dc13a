// Renders the Python client's requests, and one method for each operation.
import {
  argument,
  DO_NOT_EDIT,
  docstring,
  flowed,
  OPTIONS,
  operationsOf,
  optional,
  snake,
  typeOf,
  WIDTH,
} from './python-operations.mjs';
import { toSync } from './render-python-sync.mjs';

const REQUESTS = `"""What the operations of the service take beside what they must be given, as keyword arguments.

${DO_NOT_EDIT}
None stands for what is left out. A message can also be a dictionary of its fields.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence, TypedDict

from ._duration import Duration
`;

const CALL_OPTIONS = `class CallOptions(TypedDict, total=False):
    """What every operation takes."""

    #: Time without any byte of an answer after which the call fails; for commands the time until they are killed.
    timeout: Duration
    #: Repetitions of the call at most; 0: none.
    max_retries: int | None
`;

/** Returns a class for each request with fields that may be left out. */
export function renderPythonRequests(contract, table) {
  const operations = operationsOf(contract, table);
  const shown = new Map(operations.filter(hasRequest).map((each) => [requestName(each), each]));
  const classes = [...shown].map(([name, each]) => renderRequest(name, each));
  const used = contract.messages.concat(contract.enums).filter(({ name }) => classes.join('').match(`\\b${name} \\|`));
  const imports = `from .messages import (\n${used
    .map(({ name }) => `    ${name},\n`)
    .sort()
    .join('')})\n`;
  return [REQUESTS + imports, CALL_OPTIONS, ...classes].join('\n\n');
}

const isKeyed = ({ row }) => row.retry === 'key';
const hasRequest = (each) => each.optional.some(({ name }) => !OPTIONS.includes(name)) || isKeyed(each);
const requestName = ({ rpc }) => rpc.request;

function renderRequest(name, { row, rpc, optional: fields }) {
  const lines = fields
    .filter((field) => !OPTIONS.includes(field.name))
    .map((field) => {
      const comment = flowed(field.comment, '    #: ');
      return `${comment}    ${argument(field)}: ${optional(typeOf(field, row.method === 'PATCH'))}\n`;
    });
  if (isKeyed({ row })) lines.push('    #: Chosen at random if it is left out.\n    idempotency_key: str | None\n');
  return `class ${name}(CallOptions, total=False):\n    """Of ${rpc.name}."""\n\n${lines.join('')}`;
}

const API = `"""One method for each operation of the service.

${DO_NOT_EDIT}
"""

from __future__ import annotations

from typing import AsyncGenerator, Sequence, Unpack

`;

/** Returns the class with a method for each operation, asynchronous and synchronous, by the name of its directory. */
export function renderPythonApi(contract, table) {
  const operations = operationsOf(contract, table);
  const methods = operations.map(renderMethod).join('\n');
  const messages = operations
    .filter(({ row }) => row.kind !== 'bytes' && row.kind !== 'download')
    .map(({ listed, rpc, response }) => listed?.type ?? (response && rpc.response))
    .filter(Boolean);
  const requests = ['CallOptions', ...operations.filter(hasRequest).map(requestName)];
  const list = (names) =>
    [...new Set(names)]
      .sort()
      .map((name) => `    ${name},\n`)
      .join('');
  const text =
    `${API}from .._duration import Duration\nfrom .._http import Command, Content\nfrom ..messages import (\n${list(messages)})\n` +
    `from ..requests import (\n${list(requests)})\nfrom .calls import AsyncCalls\nfrom .download import AsyncDownload\n\n\n` +
    `class AsyncApi(AsyncCalls):\n    """One method for each operation of the service, with the fields of its request."""\n\n${methods}`;
  return { _async: text, _sync: toSync('api.py', text) };
}

function renderMethod(operation) {
  const { name, row, rpc, required, subjects } = operation;
  const { returns, body, isGenerator } = formOf(operation);
  const answers = returns === 'None' ? '' : 'return ';
  const options = hasRequest(operation) ? requestName(operation) : 'CallOptions';
  const given = [
    ...required.map((field) => `${argument(field)}: ${typeOf(field)}`),
    ...subjects.map((field) => `${argument(field)}: ${optional(typeOf(field))} = None`),
  ];
  const content = row.kind === 'raw' ? ['content: Content'] : [];
  const named = given.length > 0 ? ['*', ...given] : [];
  const parameters = ['self', ...content, ...named, `**options: Unpack[${options}]`];
  const values = [...required, ...subjects].map((field) => `"${argument(field)}": ${argument(field)}`);
  const request = values.length === 0 ? 'options' : `{${[...values, '**options'].join(', ')}}`;
  const head = `    ${isGenerator ? '' : 'async '}def ${snake(name)}(${parameters.join(', ')}) -> ${returns}:\n`;
  const separator = `        ${parameters.join(', ')}`.length > WIDTH ? ',\n        ' : ', ';
  const start = head.slice(0, head.indexOf('(') + 1);
  const broken = `${start}\n        ${parameters.join(separator)}\n    ) -> ${returns}:\n`;
  const comment = docstring(rpc?.comment ?? 'Returns if the service is up. Needs no key.');
  const returned = `        ${answers}${isGenerator ? '' : 'await '}`;
  const call = `${returned}${body(request)}\n`;
  const calls = call.length > WIDTH ? `        request = ${request}\n${returned}${body('request')}\n` : call;
  return `${head.length > WIDTH ? broken : head}${comment}${calls}`;
}

/** What a method returns. A list has all its pages. */
function formOf({ name, row, rpc, response, listed }) {
  if (listed !== undefined) {
    const pages = response.fields.length > 1 ? '' : ', pages=False';
    const call = (request) => `self._list(${listed.type}, "${name}", "${listed.name}", ${request}${pages})`;
    return { returns: `AsyncGenerator[${listed.type}, None]`, body: call, isGenerator: true };
  }
  if (row.kind === 'events') {
    const call = (request) => `self._stream(${rpc.response}, "${name}", ${request})`;
    return { returns: `AsyncGenerator[${rpc.response}, None]`, body: call, isGenerator: true };
  }
  if (row.kind === 'bytes' || row.kind === 'download')
    return {
      returns: 'AsyncDownload',
      body: (request) => `AsyncDownload(self, "${name}", ${request})`,
      isGenerator: true,
    };
  const isEmpty = response === undefined;
  const content = row.kind === 'raw' ? ', content' : '';
  return {
    returns: isEmpty ? 'None' : rpc.response,
    body: (request) =>
      isEmpty
        ? `self._call("${name}", ${request}${content})`
        : `self._message(${rpc.response}, "${name}", ${request}${content})`,
  };
}
