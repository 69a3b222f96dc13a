import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { InvalidArgumentError, Paddock, Process, Sandbox, Session } from '../../../clients/typescript/src/index.ts';
import { fakeServer, json } from './fake-server.ts';

interface Case {
  method: string;
  arguments?: unknown[];
  option?: string;
  hint?: string;
  options?: object;
  says?: string;
  names?: string[];
}
const SPEC = resolve(import.meta.dirname, '../../../clients/spec/options.json');
const spec = JSON.parse(readFileSync(SPEC, 'utf8')) as { options: Case[]; allowed: Case[]; values: Case[] };
const { options, allowed, values } = spec;

const camel = (name: string) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()).replace(/^from_/, 'from');

/** The message of the refusal, before which nothing was sent. */
async function refusalOf({ method, arguments: given = [] }: Case, more: object): Promise<string> {
  const { url, seen } = await fakeServer(json({}));
  const directory = mkdtempSync(join(tmpdir(), 'paddock-options-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const paddock = new Paddock({ url });
  const { api } = paddock;
  const sandbox = new Sandbox(api, { id: 'sb_1', codebaseId: 'cb_1' } as never);
  const session = new Session(api, { id: 'se_1' } as never);
  const process = new Process(api, { sandboxId: 'sb_1', processId: 'p_1' } as never);
  const [name = '', part = ''] = method.split('.').toReversed();
  const roots: Record<string, object> = { '': sandbox, session, process };
  const of = (roots[part] ?? Reflect.get(paddock, part) ?? Reflect.get(sandbox, part)) as Record<string, () => unknown>;
  const all = given.map((each) => (each === '$DIRECTORY' ? directory : each));
  const named = Object.entries(more).map(([each, value]) => [camel(each), value]);
  const called = async () => {
    const answer = of[name]!(...([...all, ...(named.length > 0 ? [Object.fromEntries(named)] : [])] as []));
    await (Symbol.asyncIterator in Object(answer) ? (answer as AsyncGenerator).next() : answer);
  };
  const error = await called().catch((thrown: unknown) => thrown as Error);
  expect(error).toBeInstanceOf(InvalidArgumentError);
  expect(seen).toEqual([]);
  return error!.message;
}

it.each(options)('$method refuses $option, which is no option of it', async (each) => {
  const refused = `${camel(each.option!)} is not a known option; allowed are `;
  const message = await refusalOf(each, { [each.option!]: 'x' });
  expect(message.slice(0, refused.length)).toBe(refused);
  expect(message.slice(refused.length).split(', ')).not.toContain(camel(each.option!));
  expect(message.endsWith(each.hint ?? '')).toBe(true);
});

it.each(values)('$method refuses $arguments $options: $says', async (each) => {
  expect(await refusalOf(each, each.options ?? {})).toMatch(camel(each.says!));
});

it.each(allowed)('$method says which options it has', async (each) => {
  const [, names = ''] = (await refusalOf(each, { x: 1 })).split('allowed are ');
  const found = names.split(', ').filter((name) => !['signal', 'headers'].includes(name));
  expect(found.toSorted()).toEqual(each.names!.map(camel).toSorted());
});

const methods = [...new Map(options.map((each) => [each.method, each])).values()];

it.each(methods)('neither a number nor a text is options of $method', async ({ method, arguments: given = [] }) => {
  for (const wrong of [2, 'utf8'])
    expect(await refusalOf({ method, arguments: [...given, wrong] }, {})).toBe('options must be an object');
});

it('also a setting of a client is refused that there is not', () => {
  expect(() => new Paddock({ adress: 'http://a' } as object)).toThrow('adress is not a known option; allowed are url,');
  expect(() => new Paddock({ maxRetries: -1 })).toThrow('maxRetries must be an integer of at least 0');
});
