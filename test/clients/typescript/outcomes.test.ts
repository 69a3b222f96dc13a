import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Paddock } from '../../../clients/typescript/src/index.ts';
import { type Answer, cut, fakeServer, json } from './fake-server.ts';

interface Described {
  status: number;
  code?: number;
  details?: unknown[];
  retry_after?: string;
}
interface Outcome {
  name: string;
  answer: Described;
  class: string;
  code: string;
  resource?: [string, string];
  paths?: string[];
  retry_after?: number;
}
interface Repeated {
  name: string;
  call: 'read' | 'create' | 'exec' | 'remove';
  answers: ('cut' | 'ok' | Described)[];
  requests: number;
  class?: string;
}

function spec<T>(name: string): T[] {
  const path = resolve(import.meta.dirname, '../../../clients/spec', name);
  return (JSON.parse(readFileSync(path, 'utf8')) as { cases: T[] }).cases;
}

function answerOf(described: 'cut' | 'ok' | Described): Answer {
  if (described === 'cut') return cut();
  if (described === 'ok') return json({ id: 'x' });
  const { status, code, details = [], retry_after: after } = described;
  const headers: Record<string, string> = after === undefined ? {} : { 'retry-after': after };
  if (code === undefined) return (res) => res.writeHead(status, headers).end('<html>');
  return json({ code, message: 'said', details }, status, headers);
}

describe('the error of one answer', () => {
  it.each(spec<Outcome>('errors.json'))('$name is $class', async ({ answer, class: name, code, ...more }) => {
    const { url } = await fakeServer(answerOf(answer));
    const said = new Paddock({ url, maxRetries: 0 }).api.getSandbox({ sandboxId: 'sb_1' });
    const error = await said.then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ name, code });
    if (more.resource) expect([error.resourceType, error.resourceId]).toEqual(more.resource);
    if (more.paths) expect(error.paths).toEqual(more.paths);
    if (more.retry_after) expect(error.retryAfter).toBe(more.retry_after);
  });
});

describe('a call is sent as often as in the other clients', () => {
  it.each(spec<Repeated>('retries.json'))('$name', async ({ call, answers, requests, class: name }) => {
    const { url, seen } = await fakeServer(...answers.map((each) => answerOf(each)));
    const { api } = new Paddock({ url });
    const calls = {
      read: () => api.getSandbox({ sandboxId: 'sb_1' }),
      create: () => api.createCodebase({ name: 'a' }),
      exec: () => api.exec({ sandboxId: 'sb_1', command: 'true' }),
      remove: () => api.destroySandbox({ sandboxId: 'sb_1' }),
    };
    const ended = await calls[call]().then(
      () => undefined,
      (error: Error) => error.name,
    );
    expect([ended, seen.length]).toEqual([name, requests]);
  });
});
