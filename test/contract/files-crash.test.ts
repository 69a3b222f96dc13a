import { describe, expect, it } from 'vitest';
import { type Member, tar } from '../../lib/archive/tar.ts';
import { fromText } from '../../lib/byte-string.ts';
import { collect } from './client.ts';
import { eventually } from './scene.ts';
import { useServer } from './use-server.ts';

const LIST = 'find . -type f -exec sha1sum {} + | LC_ALL=C sort; df --output=used,iused . | tail -n 1';
const MEMBERS = 400;

const archive = (): Promise<Buffer> =>
  collect(
    tar(
      (async function* (): AsyncGenerator<Member> {
        for (let i = 0; i < MEMBERS; i++) {
          const bytes = Buffer.alloc(10_000, `${i} `);
          const content = async function* () {
            yield bytes;
          };
          yield { path: fromText(`d${i % 9}/f${i}`), type: 'file', mode: 0o644, mtime: 1, size: bytes.length, content };
        }
      })(),
    ),
  );

describe('a server that is killed while files are sent to it', () => {
  const served = useServer();

  it('keeps the old file and no part of the new one', async () => {
    const first = served.scene();
    const sandbox = await first.sandboxOn({ f: 'old\n' });
    await first.client.write('WriteFile', { sandbox_id: sandbox.id, path: 'g' }, 'there\n');
    const before = await first.output(sandbox, LIST);
    let sent: () => void = () => {};
    const half = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const content = (async function* () {
      yield Buffer.alloc(9 << 20, 'n');
      sent();
      await new Promise(() => {});
    })();
    const writing = first.client
      .write('WriteFile', { sandbox_id: sandbox.id, path: 'f' }, content)
      .catch(() => undefined);
    await half;
    await eventually('some of it has come', async () => (await first.output(sandbox, LIST)) !== before);
    const second = await served.next(first);
    await writing;
    expect(await second.output(sandbox, LIST)).toBe(before);
    await second.client.call('DestroySandbox', { sandbox_id: sandbox.id });
    await second.close();
  });

  it.each([0, 40, 120, 250, 400])('has unpacked a whole archive or nothing (killed after %i ms)', async (ms) => {
    const first = served.scene();
    const sandbox = await first.sandboxOn({ f: 'old\n' });
    const bytes = await archive();
    const before = await first.output(sandbox, LIST);
    const importing = first.client.write('ImportFiles', { sandbox_id: sandbox.id }, bytes).then(
      () => true,
      () => false,
    );
    await new Promise((done) => setTimeout(done, ms));
    const second = await served.next(first);
    const answered = await importing;
    const count = Number(await second.output(sandbox, 'find d* -type f 2>/dev/null | wc -l'));
    expect(answered ? [MEMBERS] : [0, MEMBERS]).toContain(count);
    if (count === 0) expect(await second.output(sandbox, LIST)).toBe(before);
    await second.client.write('ImportFiles', { sandbox_id: sandbox.id }, bytes);
    expect(await second.output(sandbox, 'cat d*/f* | wc -c')).toBe(`${MEMBERS * 10_000}\n`);
    await second.client.call('DestroySandbox', { sandbox_id: sandbox.id });
    await second.close();
  });
});
