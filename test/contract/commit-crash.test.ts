import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Codebase, Sandbox } from '../../lib/contract/messages.ts';
import { eventually, type Scene } from './scene.ts';
import { useServer } from './use-server.ts';

const FILES = 400;
/** Changes in a new directory, which goes to its place whole. */
const WHOLE = 52;
const WORK = `mkdir -p n/m; for i in $(seq ${WHOLE - 2}); do echo $i > n/m/g$i; done; for i in $(seq ${FILES}); do echo new $i > f$i; done; rm -rf old; echo changed > kept`;
const LIST = 'find . -type f | sort | xargs sha1sum | sha1sum; find . | wc -l';

describe('a server that is killed while it commits', () => {
  const served = useServer();

  /** What tells, in the codebase's directory, that the commit has come so far. */
  const moments: [string, (directory: string) => boolean][] = [
    ['stages', (directory) => existsSync(join(directory, 'commit'))],
    ['has staged some', (directory) => existsSync(join(directory, 'commit/many/100'))],
    ['has prepared', (directory) => existsSync(join(directory, 'commit.json'))],
    ['has applied some', (directory) => existsSync(join(directory, 'files/f1'))],
    ['has applied the last', (directory) => existsSync(join(directory, 'files/f99'))],
  ];

  it.each(moments)(
    'when it %s has committed all or nothing, and the next commit takes the rest',
    async (_when, reached) => {
      const first = served.scene();
      const codebase = await first.codebase({ kept: 'kept\n', 'old/a': 'a\n', 'old/b': 'b\n' });
      const sandbox = await first.sandbox(codebase);
      await first.output(sandbox, WORK);
      const whole = await first.output(sandbox, LIST);
      const directory = join(served.state.directory, 'codebases', codebase.id);
      const committing = first.client.call('Commit', { sandbox_id: sandbox.id }).catch(() => undefined);
      let isOver = false;
      void committing.then(() => {
        isOver = true;
      });
      while (!reached(directory) && !isOver) await new Promise((done) => setImmediate(done));
      const second = await served.next(first);
      await committing;
      const isCommitted = (await second.content(codebase, 'kept')) === 'changed\n';
      const file_count = isCommitted ? FILES + WHOLE - 1 : 3;
      // Counted again soon after the start.
      await eventually('the number of files', async () => {
        const counted = await second.client.call('GetCodebase', { codebase_id: codebase.id });
        return counted.file_count === file_count;
      });
      expect(await second.output(sandbox, LIST)).toBe(whole);
      if (file_count !== 3) await expectRebased(second, codebase, sandbox);
      expect(await second.client.call('Commit', { sandbox_id: sandbox.id })).toMatchObject({
        committed: true,
        count: file_count === 3 ? FILES + WHOLE + 4 : 1,
        conflicts: [],
      });
      const other = await second.sandbox(codebase);
      expect(await second.output(other, LIST)).toBe(await second.output(sandbox, LIST));
      await eventually('the end of the commit', async () => !existsSync(join(directory, 'commit')));
      for (const { id } of [sandbox, other]) await second.client.call('DestroySandbox', { sandbox_id: id });
      await second.close();
    },
  );
});

/** The commit was finished in the sandbox, too: it shows later uploads, and its next edit is no conflict with the commit. */
async function expectRebased(scene: Scene, codebase: Codebase, sandbox: Sandbox): Promise<void> {
  const { changes } = await scene.client.call('ListChanges', { sandbox_id: sandbox.id });
  expect(changes).toEqual([]);
  await scene.client.upload(codebase.id, 'f1', 'uploaded later\n');
  expect(await scene.output(sandbox, 'cat f1; echo again > f2')).toBe('uploaded later\n');
}
