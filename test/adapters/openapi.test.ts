import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { operations } from '../../handlers/index.ts';
import { generateFromTable, outdated } from '../../proto/generate.mjs';

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

it('the document has an operation for each row of the table, with an id of its own', () => {
  const routes = operations.map(({ method, path, query }) => {
    const shape = path.replace(/\{\w+\+?\}/g, '{}');
    return `${method} ${shape}${query ? `#${query}` : ''}`;
  });
  expect(all.map(({ path, method }) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`).sort()).toEqual(
    routes.sort(),
  );
  const ids = all.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(operations.map(({ operation }) => operation)));
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
