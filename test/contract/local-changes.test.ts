import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { LocalChange, Sandbox } from '../../lib/contract/messages.ts';
import { EVERYTHING, hide } from './rules.ts';
import { expectRefusal, type Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
const NONE = { base_sha256: '', base_link_target: '', sha256: '', link_target: '' };

/** gRPC has null for a message that is absent. */
const present = ({ refusal, ...local }: LocalChange): LocalChange => (refusal ? { ...local, refusal } : local);

async function listed(scene: Scene, { id }: Sandbox, more: object = {}): Promise<Record<string, LocalChange>> {
  const { changes } = await scene.client.call('ListChanges', { sandbox_id: id, local: true, ...more });
  return Object.fromEntries(changes.map(({ path, local }) => [path, present(local!)]));
}

const cases: Case[] = [
  {
    name: 'a list of changes for a local directory has digests and targets of both sides',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'a.txt': 'old', gone: 'gone', was: 'file', mode: 'm' });
      const large = Buffer.alloc(3_000_000);
      await scene.output(
        sandbox,
        'printf new > a.txt; rm gone was; ln -s a.txt was; chmod 755 mode; mkdir d; head -c 3000000 /dev/zero > large',
      );
      expect(await listed(scene, sandbox)).toEqual({
        'a.txt': { ...NONE, base_sha256: sha256('old'), sha256: sha256('new') },
        d: NONE,
        gone: { ...NONE, base_sha256: sha256('gone') },
        large: { ...NONE, sha256: sha256(large) },
        mode: { ...NONE, base_sha256: sha256('m'), sha256: sha256('m') },
        was: { ...NONE, base_sha256: sha256('file'), link_target: 'a.txt' },
      });
      await scene.client.call('Commit', { sandbox_id: sandbox.id });
      await scene.output(sandbox, 'rm was; printf x > was');
      expect((await listed(scene, sandbox)).was).toEqual({
        ...NONE,
        base_link_target: 'a.txt',
        sha256: sha256('x'),
      });
    },
  },
  {
    name: 'a list of changes for a local directory refuses what programs there would run',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      await scene.output(
        sandbox,
        'mkdir -p .git/hooks .hg; touch .git/hooks/x .git/HEAD .hg/hgrc .envrc ok; ln -s /etc out; ln -s ok in; touch "git~1"',
      );
      const found = Object.entries(await listed(scene, sandbox)).map(([path, { refusal }]) => [path, refusal]);
      const never = (reason: string) => ({ reason, allow: '', git: false });
      expect(Object.fromEntries(found)).toMatchObject({
        '.envrc': { reason: 'direnv would run it on sight', allow: '.envrc', git: false },
        '.git/HEAD': { reason: 'it is in .git', allow: '', git: true },
        '.git/hooks/x': never('git could run a program by it'),
        '.hg/hgrc': never('it is in .hg'),
        'git~1': never('it could redirect git to another repository'),
        out: never('it is a symlink to "/etc", out of the directory'),
        in: undefined,
        ok: undefined,
      });
    },
  },
  {
    name: 'what decides about a local directory is shown to no agent, and only on request',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ secret: 's' }, [...EVERYTHING, hide('secret')]);
      await scene.output(sandbox, 'touch a');
      await expectRefusal(
        scene.client.call('ListChanges', { sandbox_id: sandbox.id, local: true, as: 'agent' }),
        'INVALID_ARGUMENT',
        /local must not be set with the view "agent"/,
      );
      const { changes } = await scene.client.call('ListChanges', { sandbox_id: sandbox.id });
      expect(changes.map(({ local }) => local ?? undefined)).toEqual([undefined]);
    },
  },
];

contract('local changes', cases);
