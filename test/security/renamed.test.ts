import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { collect } from '../contract/client.ts';
import { EVERYTHING, hide, write } from '../contract/rules.ts';
import { expectRefusal, type Scene } from '../contract/scene.ts';
import type { State } from '../contract/server.ts';
import { attacks } from './suite.ts';

attacks('renamed directories', (target) => {
  it('61: a base directory that becomes a link to the host leads nowhere in sandboxes that renamed it', async () => {
    const { scene, state } = target;
    const other = await scene.codebase({ shadow: 'OTHER TENANT' });
    const codebase = await scene.codebase({ 'p/d/x': 'x', 'p/e/x': 'x', 'p/f/x': 'x', 'p/other': 'o' });
    const a = await scene.sandbox(codebase);
    const merged = await scene.sandbox(codebase);
    await scene.output(a, 'mv p q; touch q/d/new q/e/new q/f/new; ls q/d q/e q/f');
    await scene.output(merged, 'touch p/d/new p/e/new p/f/new; ls p/d');
    const { results } = await scene.client.call('Fork', { sandbox_id: a.id });
    const fork = results[0]!.sandbox!;
    scene.owns(fork);
    const b = await scene.sandbox(codebase, EVERYTHING, { auto_commit: 'on_exec' });
    const theirs = join(state.directory, 'codebases', other.id, 'files');
    const swap = `rm -r p/d p/e p/f; ln -s /etc p/d; ln -s ${theirs} p/e; ln -s ${mountOf(state)}/${b.id} p/f`;
    await scene.output(b, swap);
    for (const sandbox of [a, merged, fork]) {
      const top = sandbox === merged ? 'p' : 'q';
      const names = await scene.output(sandbox, `find ${top}; cat ${top}/*/* 2>/dev/null; true`);
      expect(names).toContain(`${top}/d/new`);
      expectNothing(names);
      expectNothing((await collect(scene.client.read('ExportFiles', archive(sandbox, 'owner')))).toString());
      expectNothing(
        (await collect(scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format: 'tar' }))).toString(),
      );
      expectNothing(
        (await collect(scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format: 'patch' }))).toString(),
      );
      await scene.client.call('Commit', { sandbox_id: sandbox.id, on_conflict: 'ours' }).catch(() => undefined);
      expectNothing(await allOf(scene, codebase.id));
    }
    expect(await scene.output(b, 'echo served')).toBe('served\n');
  });

  it('61: a rollback to a rename from before the link leads nowhere', async () => {
    const { scene } = target;
    const codebase = await scene.codebase({ 'p/d/x': 'x', 'p/other': 'o' });
    const a = await scene.sandbox(codebase);
    await scene.output(a, 'mv p q; touch q/d/new');
    await scene.client.call('CreateCheckpoint', { sandbox_id: a.id, name: 'renamed' });
    await scene.client.call('Discard', { sandbox_id: a.id, paths: [] });
    await scene.output(a, 'rm -r p/d; ln -s /etc p/d');
    await scene.client.call('Commit', { sandbox_id: a.id });
    await scene.client.call('Rollback', { sandbox_id: a.id, checkpoint: 'renamed' });
    expect(await scene.output(a, 'ls q/d')).toBe('new\n');
    await scene.client.call('Commit', { sandbox_id: a.id, on_conflict: 'ours' });
    expectNothing(await allOf(scene, codebase.id));
  });

  it('62: a hidden path stays hidden below a directory that was renamed before, by every interface', async () => {
    const { scene } = target;
    const codebase = await scene.codebase({ 'a/open': 'open' });
    const rules = [write('**'), hide('a/secret', 1)];
    const early = await scene.sandbox(codebase, rules);
    const late = await scene.sandbox(codebase);
    for (const sandbox of [early, late]) await scene.output(sandbox, 'mv a b; cat b/open; ! cat b/secret');
    await scene.client.upload(codebase.id, 'a/secret', 'SECRET');
    // The kernel has it cached when the rules change.
    expect(await scene.output(late, 'cat b/secret')).toBe('SECRET');
    await scene.client.call('UpdatePermissions', { sandbox_id: late.id, permissions: rules });
    for (const sandbox of [early, late]) {
      const { stdout, stderr } = await scene.run(
        sandbox,
        'ls b; cat b/secret; stat b/secret; echo x > b/secret; mv b c',
      );
      expect(stdout).toBe('open\n');
      expect(stderr).toMatch(/secret.*No such file[\s\S]*ermission denied/);
      const path = { sandbox_id: sandbox.id, path: 'b/secret' };
      await expectRefusal(scene.client.call('StatFile', { ...path, as: 'agent' }), 'NOT_FOUND');
      const tar = (await collect(scene.client.read('ExportFiles', archive(sandbox, 'agent')))).toString();
      expect(tar).toContain('open');
      for (const format of ['patch', 'tar']) {
        expect(
          (await collect(scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format }))).toString(),
        ).not.toContain('secret');
      }
      expect(tar).not.toContain('secret');
      const { changes } = await scene.client.call('ListChanges', { sandbox_id: sandbox.id });
      expect(changes.map((change) => change.path)).toEqual(['a', 'a/open', 'b', 'b/open']);
      expect(await scene.client.call('ExplainPermission', path)).toMatchObject({
        permission: 'PERMISSION_NONE',
        reason: expect.stringContaining('"a/secret"'),
      });
      await expectRefusal(scene.client.call('Commit', { sandbox_id: sandbox.id }), 'PERMISSION_DENIED');
      expect(await scene.client.call('StatFile', { ...path, as: 'owner' })).toMatchObject({ size: 6 });
    }
  });
});

const archive = ({ id }: Sandbox, as: string) => ({ sandbox_id: id, as, path: '', format: 'tar' });

function expectNothing(seen: string): void {
  for (const word of ['passwd', 'shadow', 'root:', 'OTHER TENANT']) expect(seen).not.toContain(word);
}

/** Returns the names and contents of all regular files of a codebase. */
async function allOf(scene: Scene, codebase_id: string): Promise<string> {
  const { files } = await scene.client.call('ListFiles', { codebase_id, recursive: true });
  let all = '';
  for (const { path, is_dir } of files) {
    const content = is_dir ? '' : await collect(scene.client.download(codebase_id, path)).catch(() => '');
    all += `${path}\n${content}\n`;
  }
  return all;
}

function mountOf(state: State): string {
  const own = join(state.directory, 'mounts/fs');
  const name = createHash('sha256').update(join(state.directory, 'mounts')).digest('hex').slice(0, 16);
  return existsSync(own) ? own : `/run/paddock/workspaces-${name}`;
}
