import { describe, expect, it } from 'vitest';
import { createMockRuntime } from '../../../../lib/runtime/mock/index.ts';
import { command, RESOURCES, run } from '../run.ts';

async function sandbox() {
  const runtime = createMockRuntime();
  await runtime.probe();
  await runtime.reclaim();
  return runtime.launch({
    id: 'sb_m',
    workspace: '/nowhere',
    home: '/nowhere',
    runDir: '/nowhere',
    uid: 1,
    image: '',
    resources: RESOURCES,
  });
}

describe('the mock runtime', () => {
  it.each([
    ['true', '', 0],
    ['false', '', 1],
    ['exit 7', '', 7],
    ['echo  a b', 'a b\n', 0],
  ])('supports %s', async (text, stdout, exitCode) => {
    expect(await run(await sandbox(), text)).toMatchObject({ stdout, stderr: '', exitCode });
  });

  it('returns stdin for cat', async () => {
    expect(await run(await sandbox(), 'cat', { stdin: 'a\0é' })).toMatchObject({ stdout: 'a\0é', exitCode: 0 });
  });

  it('refuses any other command', async () => {
    for (const text of ['id', 'echo a; touch /tmp/x', 'sleep x', 'cat /etc/passwd', 'exit', '']) {
      const { exitCode, stderr, stdout } = await run(await sandbox(), text);
      if (!text.startsWith('echo')) expect({ text, exitCode, stderr }).toMatchObject({ exitCode: 127 });
      else expect(stdout).toBe('a; touch /tmp/x\n');
    }
  });

  it('ends a sleep by timeout, by signal, when its consumer leaves, and by stop', async () => {
    const box = await sandbox();
    expect(await run(box, 'sleep 60', { timeoutMs: 5 })).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    const abort = new AbortController();
    const cancelled = run(box, 'sleep 60', { signal: abort.signal });
    abort.abort();
    expect(await cancelled).toMatchObject({ code: 'CANCELLED' });
    const execution = await box.exec(command('sleep 60'));
    await execution[Symbol.asyncIterator]().return?.();
    const stopped = run(box, 'sleep 60');
    await box.stop();
    expect(await stopped).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await run(box, 'true')).toMatchObject({ code: 'UNAVAILABLE' });
  });
});
