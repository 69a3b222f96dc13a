import { type Client, Metadata } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ExecResponse } from '../../lib/contract/messages.ts';
import { plainClient } from '../contract/grpc-client.ts';
import { expectCode, plainCall } from '../contract/plain-grpc.ts';
import { attacks } from '../security/suite.ts';

const MIB = 2 ** 20;

attacks('Answers that a gRPC client with its default limit of 4 MiB receives', (target) => {
  let client: Client;
  beforeEach(() => {
    client = plainClient('SandboxService', target.server.grpcAddress);
  });
  afterEach(() => client.close());

  const exec = (sandbox_id: string, command: string, more: object = {}, metadata?: Metadata) =>
    plainCall<ExecResponse>(client, 'Exec', { sandbox_id, command, ...more }, metadata);

  it('an answer to a command has its exit code, and the beginning of the output', async () => {
    const { id } = await target.scene.sandboxOn({});
    const answer = await exec(id, `echo once >>runs; head -c ${6 * MIB} /dev/zero | tr '\\0' x; echo end >&2; exit 7`);
    expect(answer).toMatchObject({ exit_code: 7, stderr: 'end\n', output_truncated: true, stderr_dropped_bytes: 0 });
    expect(answer.stdout.slice(-100)).toMatch(/x\n\[output cut at \d+ bytes: more does not fit into the answer\]\n$/);
    const kept = answer.stdout.lastIndexOf('x') + 1;
    expect(kept).toBeGreaterThan(3.9 * MIB);
    expect(kept + answer.stdout_dropped_bytes).toBe(6 * MIB);
    expect((await exec(id, 'cat runs')).stdout).toBe('once\n');
  });

  it('both streams have a part of it', async () => {
    const { id } = await target.scene.sandboxOn({});
    const both = `head -c ${5 * MIB} /dev/zero | tr '\\0' x; head -c ${5 * MIB} /dev/zero | tr '\\0' Z >&2`;
    const { stdout, stderr, ...counts } = await exec(id, both);
    expect(stdout.lastIndexOf('x') + 1 + counts.stdout_dropped_bytes).toBe(5 * MIB);
    expect(stderr.lastIndexOf('Z') + 1 + counts.stderr_dropped_bytes).toBe(5 * MIB);
    expect(Math.min(stdout.length, stderr.length)).toBeGreaterThan(1.9 * MIB);
  });

  it.each([
    ['characters of several bytes', 'ö€😀', false],
    ['bytes that are not UTF-8', '\\377\\376', true],
    ['one other byte among characters', 'ö€😀', true],
  ])('%s count as what they are in the answer', async (_what, text, isOther) => {
    const { id } = await target.scene.sandboxOn({});
    const line = `printf '${isOther ? '\\377' : ''}' ; yes "$(printf '${text}')" | head -c ${7 * MIB}`;
    const { stdout, exit_code, output_truncated } = await exec(id, line, { shell: 'bash' });
    expect({ exit_code, output_truncated }).toEqual({ exit_code: 0, output_truncated: true });
    const bytes = Buffer.byteLength(stdout);
    expect(bytes).toBeGreaterThan(text.includes('377') ? 1.3 * MIB : 3.7 * MIB);
    expect(bytes).toBeLessThan(4 * MIB);
  });

  it('one stream of both, and the ends of an output, are cut, too', async () => {
    const { id } = await target.scene.sandboxOn({});
    const command = `echo first; head -c ${6 * MIB} /dev/zero | tr '\\0' x; echo; echo last >&2`;
    const merged = await exec(id, command, { merge: true, max_output: 8 * MIB });
    expect(merged).toMatchObject({ output_truncated: true, stdout: '', stderr: '' });
    expect(merged.output).toMatch(/^first\nx+\n\[\d+ bytes left out\]\nx+\nlast\n$/);
    expect(merged.output.length).toBeGreaterThan(3.9 * MIB);
  });

  it('a client that says how much it receives gets that', async () => {
    const { id } = await target.scene.sandboxOn({});
    const command = `head -c ${3 * MIB} /dev/zero | tr '\\0' x`;
    const saying = (value: string) => {
      const metadata = new Metadata();
      metadata.set('x-max-answer-bytes', value);
      return exec(id, command, {}, metadata);
    };
    expect(await saying(String(MIB))).toMatchObject({ exit_code: 0, output_truncated: true });
    expect((await saying(String(4 * MIB))).stdout).toHaveLength(3 * MIB);
    const refused = 'x-max-answer-bytes must be a number of bytes from 131072 to 2147483647';
    for (const value of ['0', '-1', '131071', '2147483648', '1e9', 'much']) {
      await expectCode(saying(value), 'INVALID_ARGUMENT', refused);
    }
  });

  it('the last output of a session has its exit code', async () => {
    const { id } = await target.scene.sandboxOn({});
    const session = await plainCall<{ id: string }>(client, 'CreateSession', { sandbox_id: id });
    const command = `head -c ${6 * MIB} /dev/zero | tr '\\0' x; (exit 7)`;
    const answer = await plainCall<ExecResponse>(client, 'SessionExec', { session_id: session.id, command });
    expect(answer).toMatchObject({ exit_code: 7, output_truncated: true });
  });

  it('a page of long entries is shorter, and all pages together have each entry once', async () => {
    const { id } = await target.scene.sandboxOn({});
    const directory = Array.from({ length: 15 }, (_, depth) => String.fromCharCode(97 + depth).repeat(240)).join('/');
    const target4k = 't'.repeat(4000);
    await target.scene.output(
      { id } as never,
      `mkdir -p ${directory} && cd ${directory} && i=0; while [ $i -lt 1000 ]; do ln -s ${target4k} link$i; i=$((i+1)); done`,
    );
    const seen = new Set<string>();
    let pages = 0;
    for (let page_token = ''; ; pages++) {
      const request = { sandbox_id: id, path: directory, page_size: 1000, page_token };
      type Page = { files: { path: string; link_target: string }[]; next_page_token: string };
      const page = await plainCall<Page>(client, 'ListDirectory', request);
      for (const { path } of page.files) seen.add(path);
      page_token = page.next_page_token;
      if (page_token === '') break;
    }
    expect(pages).toBeGreaterThan(0);
    expect(seen.size).toBe(1000);
  });

  it('a commit of many long paths is answered', async () => {
    const { id } = await target.scene.sandboxOn({});
    const directory = Array.from({ length: 15 }, (_, depth) => String.fromCharCode(97 + depth).repeat(240)).join('/');
    await target.scene.output(
      { id } as never,
      `mkdir -p ${directory} && cd ${directory} && i=0; while [ $i -lt 1200 ]; do : >file$i; i=$((i+1)); done`,
    );
    const answer = await plainCall<{ committed: boolean; count: number; changes: object[] }>(client, 'Commit', {
      sandbox_id: id,
    });
    expect(answer).toMatchObject({ committed: true, count: 1215 });
    expect(answer.changes.length).toBeGreaterThan(100);
  });
});
