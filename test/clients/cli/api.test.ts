import { beforeAll, describe, expect, it } from 'vitest';
import { serverOfFile } from '../../contract/use-server.ts';
import { cli } from './cli.ts';

const served = serverOfFile();
let codebase: string;

const api = (...args: string[]) => cli(['api', ...args], { url: served.url });

beforeAll(async () => {
  codebase = JSON.parse((await api('CreateCodebase', 'name=c')).stdout).id;
});

describe('paddock api calls an operation', () => {
  it('with texts and JSON, and prints its answer as JSON', async () => {
    const made = await api('CreateSandbox', `codebase_id=${codebase}`, 'rules:={"write":["**"]}', 'idle_timeout=1m');
    expect(JSON.parse(made.stdout)).toMatchObject({ codebaseId: codebase, idleTimeout: 60 });
    const sandbox_id = JSON.parse(made.stdout).id;
    for (const time of ['idle_timeout=60', 'idle_timeout:=60', 'idle_timeout=60s', 'idle_timeout:="1m"'])
      expect(JSON.parse((await api('UpdateSandbox', `sandbox_id=${sandbox_id}`, time)).stdout).idleTimeout, time).toBe(
        60,
      );
    const streamed = await api('ExecStream', `sandbox_id=${sandbox_id}`, 'argv:=["true"]');
    const dry = await api('Commit', `sandbox_id=${sandbox_id}`, 'dry_run=true');
    expect(JSON.parse(dry.stdout)).toMatchObject({ committed: false });
    expect(JSON.parse(streamed.stdout.trim().split('\n').at(-1)!)).toMatchObject({ exitCode: 0 });
    const limited = await api('Exec', `sandbox_id=${sandbox_id}`, 'argv:=["seq","99"]', 'max_output=8');
    expect(JSON.parse(limited.stdout)).toMatchObject({ exitCode: 0, outputTruncated: true });
    const removed = await api('DestroySandbox', `sandbox_id=${sandbox_id}`);
    expect([removed.stdout, removed.code]).toEqual(['{}\n', 0]);
  });

  it('with the bytes of standard input and output', async () => {
    const at = [`codebase_id=${codebase}`, 'file_path=a/b'];
    const stored = await cli(['api', 'UploadFile', ...at], { url: served.url, input: 'text\n' });
    expect(JSON.parse(stored.stdout)).toMatchObject({ size: 5 });
    expect((await api('DownloadFile', ...at)).stdout).toBe('text\n');
  });

  it('and says what is wrong with it', async () => {
    expect((await api('GetCodebas')).stderr).toContain('"GetCodebas" is no OPERATION; did you mean GetCodebase?');
    expect((await api('GetCodebase', 'codebase_ids=a')).stderr).toContain(
      'codebase_ids is no field of the operation; it has codebase_id',
    );
    expect((await api('Exec', 'sandbox_id=a', 'command=true', 'env:={"A":1}')).stderr).toContain(
      'paddock: env must be an object of strings',
    );
    expect((await api('Commit', 'sandbox_id=a', 'on_conflict=mine')).stderr).toContain(
      'on_conflict must be one of ours',
    );
    expect((await api('GetCodebase', 'codebase_id')).stderr).toContain('a field is like sandbox_id=sb_1');
    expect((await api('Commit', 'paths:=[')).stderr).toContain('the value of paths is not valid JSON');
    expect((await api('GetCodebase', 'codebase_id=cb_none')).stderr).toContain('cb_none');
  });
});
