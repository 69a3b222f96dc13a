import { expect, it } from 'vitest';
import { operations } from '../../handlers/index.ts';
import { fields, rpcs } from '../../lib/contract/schema.ts';

it('the table of operations has a row for each rpc of the contract, with the handler of that rpc', () => {
  for (const { operation, handler } of operations) {
    expect('rpc' in handler ? handler.rpc : 'Health').toBe(operation);
  }
  expect(new Set(operations.map(({ operation }) => operation))).toEqual(new Set([...Object.keys(rpcs), 'Health']));
});

it('the table of operations names each path parameter after a field of its request', () => {
  for (const { operation, path } of operations) {
    const parameters = Array.from(path.matchAll(/\{(\w+)\+?\}/g), ([, name]) => name);
    const request = operation === 'Health' ? {} : fields[rpcs[operation].request];
    expect(Object.keys(request)).toEqual(expect.arrayContaining(parameters));
  }
});

it('the table of operations has no duplicate route', () => {
  const routes = operations.map(({ method, path, query = '' }) => `${method} ${path}?${query}`);
  expect(new Set(routes).size).toBe(routes.length);
});

it('the routes of one operation need the same from their caller', () => {
  for (const { operation, access } of operations) {
    expect(access).toEqual(operations.find((each) => each.operation === operation)?.access);
  }
});
