import { expect, it } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { eventually } from '../contract/scene.ts';
import { FILE_FLOODS, fileWork } from '../security/file-floods.ts';
import { attacks } from '../security/suite.ts';

/** Most of the median in a quiet server, which is about 1 ms. Requests in order of arrival take 200 times as long. */
const MOST = 40;
const FLOODS = FILE_FLOODS.filter(({ name }) => /^64 processes (read|write) 1 MiB/.test(name));

attacks('file requests', (target) => {
  it.each(FLOODS)('are served in turns of sandboxes: $name', async ({ program }) => {
    const { scene } = target;
    const codebase = await scene.codebase();
    const [one, other] = [await scene.sandbox(codebase), await scene.sandbox(codebase)];
    const median = async (sandbox: Sandbox) => {
      const times = JSON.parse(await scene.output(sandbox, 'exec python3 -I -', { stdin: fileWork(2) })) as number[];
      return times.sort((a, b) => a - b)[times.length >> 1]!;
    };
    const quiet = Math.max(1, await median(other));
    const flood = scene.run(one, 'exec python3 -I - > ready', { stdin: program, timeout: 100 }).catch(() => undefined);
    await eventually('the flood', async () => await scene.output(one, 'cat ready || true'));
    await scene.output(one, 'sleep 0.5');
    expect(await median(other)).toBeLessThan(MOST * quiet);
    await scene.client.call('DestroySandbox', { sandbox_id: one.id });
    await flood;
  });
});
