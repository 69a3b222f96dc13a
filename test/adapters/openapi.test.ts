import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { generateFromTable, outdated } from '../../proto/generate.mjs';
import {
  expectDocumented,
  expectDocumentedBody,
  expectDocumentedLine,
  expectDocumentedRequest,
} from '../contract/documented.ts';

interface Operation {
  operationId: string;
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<string, object>;
}

const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> };
const all = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

it('the document of OpenAPI matches the .proto files, the table of operations and the constraints', async () => {
  expect(outdated(await generateFromTable())).toEqual([]);
});

it('the examples of the document are requests that it permits', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(JSON.parse(text), 'document');
  const bodies = all.flatMap(({ operationId, requestBody }) =>
    Object.values(requestBody?.content ?? {}).flatMap((content) => ({ operationId, ...content })),
  );
  const examples = bodies.filter(({ example }) => example !== undefined);
  for (const { operationId, schema, example } of examples) {
    const { $ref } = schema as { $ref: string };
    const validate = ajv.getSchema(`document${$ref}`)!;
    expect([operationId, validate(example), validate.errors]).toEqual([operationId, true, null]);
    expect(validate({ ...(example as object), unknown_field: 1 })).toBe(false);
  }
  expect(examples.length).toBeGreaterThan(15);
});

describe('the check of answers against the document', () => {
  const head = (status: number, type = 'application/json') => ({ status, headers: { 'content-type': type } });
  const codebase = {
    id: 'cb_1',
    name: 'a',
    owner_id: '',
    created_at: 1,
    file_count: 0,
    total_size: 0,
    status_reason: '',
    totals_outdated: false,
    revision: '',
  };
  const bodyOf = (body: object) => () =>
    expectDocumentedBody('GET', '/v1/codebases/cb_1', head(200), JSON.stringify(body));

  it('accepts what the document has', () => {
    expectDocumented('GET', '/v1/codebases/cb_1', head(200));
    bodyOf(codebase)();
    expectDocumented('GET', '/v1/sandboxes/sb_1/changes?format=patch', head(200, 'text/x-diff'));
    expectDocumentedLine('POST', '/v1/sandboxes/sb_1/exec/stream', { data: '', stream: 'STDOUT', duration_ms: 0 });
  });

  it('refuses an unknown field, a missing one and one of another type', () => {
    expect(bodyOf({ ...codebase, further: 1 })).toThrow(/additional properties \(further\)/);
    expect(bodyOf({ ...codebase, name: undefined })).toThrow(/required property 'name'/);
    expect(bodyOf({ ...codebase, created_at: '1' })).toThrow(/must be integer/);
    const line = { data: '', stream: 'STDOUT', duration_ms: 0, further: 1 };
    expect(() => expectDocumentedLine('POST', '/v1/sandboxes/sb_1/exec/stream', line)).toThrow(/\(further\)/);
    const error = JSON.stringify({ code: 5, message: 'gone', details: [], further: 1 });
    expect(() => expectDocumentedBody('GET', '/v1/codebases/cb_1', head(404), error)).toThrow(/\(further\)/);
  });

  it('refuses a field of a request, and one of a query, that the document does not have', () => {
    const refused = (method: string, path: string, fields: object) => () =>
      expectDocumentedRequest(method, path, fields, method === 'POST');
    refused('POST', '/v1/sandboxes/sb_1/exec', { command: 'ls', timeout: 5 })();
    refused('GET', '/v1/sandboxes', { page_size: 5, labels: { a: 'b' } })();
    expect(refused('POST', '/v1/sandboxes/sb_1/exec', { command: 'ls', further: 1 })).toThrow(/\(further\)/);
    expect(refused('POST', '/v1/sandboxes/sb_1/start', { further: 1 })).toThrow('no further of StartSandbox');
    expect(refused('GET', '/v1/sandboxes', { further: 1 })).toThrow('no further of ListSandboxes');
    expect(refused('GET', '/v1/sandboxes', { page_size: 1001 })).toThrow(/page_size .*must be <= 1000/);
  });

  it('refuses a status and a content type that the document does not have', () => {
    expect(() => expectDocumented('GET', '/v1/codebases/cb_1', head(202))).toThrow('no answer 202 of GetCodebase');
    expect(() => expectDocumented('GET', '/v1/sandboxes/sb_1/changes?format=patch', head(200))).toThrow(
      'no answer 200 with the type application/json of ExportChanges',
    );
  });
});
