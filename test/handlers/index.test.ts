import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { operations } from '../../handlers/index.ts';
import codebase from '../../proto/service/v1/codebase.proto';
import sandbox from '../../proto/service/v1/sandbox.proto';

it('has each rpc of the protos exactly once', () => {
  const methods = [sandbox, codebase].flatMap(({ files }) => files.flatMap(({ symbols }) => symbols));
  const inProtos = methods.flatMap(
    (symbol) => /^service\.v1\.(\w+Service)\.(\w+)$/.exec(symbol)?.slice(1).join('/') ?? [],
  );
  expect(operations.flatMap(({ rpc }) => rpc ?? []).sort()).toEqual(inProtos.sort());
  expect(inProtos.length).toBeGreaterThan(0);
});

it('has no route twice', () => {
  const routes = operations.map(({ method, path, query = '' }) => `${method} ${path}?${query}`);
  expect(new Set(routes).size).toBe(routes.length);
});

it('has a test for each operation, by its name', () => {
  const kebab = (name: string) => name.replace(/(?<=.)[A-Z]/g, '-$&').toLowerCase();
  const files = operations.map(({ operation }) => new URL(`${kebab(operation)}.test.ts`, import.meta.url));
  expect(files.filter((file) => !existsSync(file)).map(String)).toEqual([]);
});
