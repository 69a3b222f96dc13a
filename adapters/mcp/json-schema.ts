import * as z from 'zod';

type Json = Record<string, unknown>;

const converted = new WeakMap<z.ZodObject, { input: Json; output: Json }>();

/** The schema for the library, with the JSON Schema that clients get, without what says nothing: it costs tokens of a model. */
export function listedSchema(schema: z.ZodObject) {
  let json = converted.get(schema);
  if (json === undefined) {
    json = { input: short(schema, 'input'), output: short(schema, 'output') };
    converted.set(schema, json);
  }
  const { input, output } = json;
  const { validate } = schema['~standard'];
  const standard = { version: 1, vendor: 'zod', validate, jsonSchema: { input: () => input, output: () => output } };
  return { '~standard': standard as (typeof schema)['~standard'] };
}

const short = (schema: z.ZodObject, io: 'input' | 'output'): Json => shortened(z.toJSONSchema(schema, { io })) as Json;

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name, each]) => !saysNothing(name, each));
  return Object.fromEntries(kept.map(([name, each]) => [name, shortened(each)]));
}

const saysNothing = (name: string, value: unknown): boolean =>
  name === '$schema' ||
  (name === 'additionalProperties' && isEmpty(value)) ||
  name === 'propertyNames' ||
  Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;

const isEmpty = (value: unknown): boolean =>
  value === false || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
