import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Duration, Paddock, Sandbox, type SandboxInfo } from '../../../clients/typescript/src/index.ts';
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
  call: 'read' | 'create' | 'exec' | 'watch' | 'remove';
  answers: ('cut' | 'ok' | Described)[];
  requests: number;
  class?: string;
}

function spec<T>(name: string, list = 'cases'): T[] {
  const path = resolve(import.meta.dirname, '../../../clients/spec', name);
  return (JSON.parse(readFileSync(path, 'utf8')) as Record<string, T[]>)[list]!;
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
    const said = new Paddock({ url, maxRetries: 0, timeout: '1m' }).api.getSandbox({ sandboxId: 'sb_1' });
    const error = await said.then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ name, code });
    if (answer.code === undefined) expect(error.message).toContain(url);
    if (more.resource) expect([error.resourceType, error.resourceId]).toEqual(more.resource);
    if (more.paths) expect(error.paths).toEqual(more.paths);
    if (more.retry_after) expect(error.retryAfter).toBe(more.retry_after);
  });
});

describe('an error of the client itself', () => {
  it.each(spec<{ name: string; call: string; class: string; code: string }>('errors.json', 'own'))(
    '$name is $class',
    async ({ call, class: name, code }) => {
      const answers: Record<string, Answer> = { cut: cut(), silent: () => undefined, port: json({ ports: [] }) };
      const { url } = await fakeServer(answers[call] ?? json({ id: 'sb_1', exit_code: 1 }));
      const paddock = new Paddock({ url, maxRetries: 0, timeout: '50ms' });
      const sandbox = new Sandbox(paddock.api, { id: 'sb_1' } as SandboxInfo);
      const calls: Record<string, () => Promise<unknown>> = {
        duration: () => sandbox.run('true', { timeout: 5 as unknown as Duration }),
        paths: () => sandbox.changes({ paths: [] }),
        check: () => sandbox.run('false', { check: true }),
        port: () => sandbox.ports.wait(1, { timeout: '1ms' }),
      };
      await expect((calls[call] ?? (() => sandbox.refresh()))()).rejects.toMatchObject({ name, code });
    },
  );
});

describe('a call is sent as often as in the other clients', () => {
  it.each(spec<Repeated>('retries.json'))('$name', async ({ call, answers, requests, class: name }) => {
    const { url, seen } = await fakeServer(...answers.map((each) => answerOf(each)));
    const { api } = new Paddock({ url });
    const calls = {
      read: () => api.getSandbox({ sandboxId: 'sb_1' }),
      create: () => api.createCodebase({ name: 'a' }),
      exec: () => api.exec({ sandboxId: 'sb_1', command: 'true' }),
      watch: () => api.watchProcess({ sandboxId: 'sb_1', processId: 'p' }).next(),
      remove: () => api.destroySandbox({ sandboxId: 'sb_1' }),
    };
    const ended = await calls[call]().then(
      () => undefined,
      (error: Error) => error.name,
    );
    expect([ended, seen.length]).toEqual([name, requests]);
  });
});
