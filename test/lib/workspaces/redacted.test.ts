import { linkSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OpenedFile, Packed } from '../../../lib/workspaces/workspace-files.ts';
import { ALL_WRITE, itOfLayers, outcome, rule, Sandbox } from './sandbox.ts';

const SECRET = 'sk_live_51HxVerySecretValue';
const ENV = `# keys\nSTRIPE_KEY=${SECRET}\nDEBUG=true\n`;
const SHOWN = /^# keys\nSTRIPE_KEY=sk_live_pdk[a-z2-7]{24}\nDEBUG=true\n$/;

const redacted = (pattern: string, redactor = '') => ({ ...rule(pattern, 'READ', 1), view: 'redacted', redactor });
const RULES = [...ALL_WRITE, redacted('**/.env*')];

const make = (base: Record<string, string> = { '.env': ENV, other: 'o' }) => new Sandbox(base, { rules: RULES });

describe('a redacted file', () => {
  it('is read with placeholders, of the size that stat reports, from any offset', () => {
    const s = make();
    const text = s.read('.env');
    expect(text).toMatch(SHOWN);
    expect(s.stat('.env').size).toBe(text.length);
    expect(s.stat('.env').mode & 0o777).toBe(0o440);
    expect(s.lookup('.env')?.attr.size).toBe(text.length);
    const into = Buffer.alloc(8);
    expect(s.fs.read(s.caller, s.id('.env'), text.length - 3, into)).toBe(3);
    expect(s.fs.read(s.caller, s.id('.env'), ENV.length + 1000, into)).toBe(0);
    expect(s.list('')).toEqual(['.env', 'other']);
  });

  it('has the same placeholders at every read, after forgetting it and after a restart; another sandbox has others', () => {
    const s = make();
    const text = s.read('.env');
    s.forgetAll();
    expect(s.read('.env')).toBe(text);
    s.restart();
    expect(s.read('.env')).toBe(text);
    expect(make().read('.env')).not.toBe(text);
  });

  it.each<[string, (s: Sandbox) => unknown]>([
    ['write', (s) => s.write('.env', 'x')],
    ['truncate', (s) => s.set('.env', { size: 0 })],
    ['chmod', (s) => s.set('.env', { mode: 0o777 })],
    ['unlink', (s) => s.unlink('.env')],
    ['rename', (s) => s.rename('.env', 'plain')],
    ['rename its directory', (s) => s.rename('dir', 'moved')],
    ['rename over', (s) => s.rename('other', '.env')],
    ['exchange', (s) => s.rename('other', '.env', 2)],
    ['link', (s) => s.link('.env', 'plain')],
    ['link over', (s) => s.link('other', '.env.new')],
    ['create', (s) => s.create('.env.new', 'A=guess')],
  ])('refuses %s', (_, act) => {
    const s = make({ '.env': ENV, other: 'o', 'dir/.env': ENV });
    expect(outcome(() => act(s))).toBe('EACCES');
    expect(s.read('.env')).toMatch(SHOWN);
  });

  it('shows nothing of a file that is not of its format, too large, or not text', () => {
    const s = make({ '.env': `${SECRET}\n`, '.env.large': `A=${SECRET}\n`.repeat(60_000) });
    expect(s.read('.env')).toBe('# hidden\n');
    expect(s.read('.env.large')).toBe('# hidden\n');
    expect(s.stat('.env.large').size).toBe(9);
  });

  it('is shown whole or with placeholders by the rules in force, also through a node that was open before', () => {
    const s = new Sandbox({ '.env': ENV });
    const id = s.id('.env');
    expect(s.readId(id)).toBe(ENV);
    s.notices.inodes.length = 0;
    s.fs.setRules('sb_1', RULES);
    expect(s.notices.inodes).toContain(id);
    expect(s.readId(id)).toMatch(SHOWN);
    expect(s.fs.getattr(s.caller, id).size).not.toBe(ENV.length);
    s.notices.inodes.length = 0;
    s.fs.setRules('sb_1', [...ALL_WRITE, redacted('**/.env*', 'json')]);
    expect(s.notices.inodes).toContain(id);
    expect(s.readId(id)).toBe('# hidden\n');
    s.fs.setRules('sb_1', ALL_WRITE);
    expect(s.readId(id)).toBe(ENV);
  });

  it('has placeholders for what the sandbox wrote before the rule, and for a link that it made', () => {
    const s = new Sandbox({ '.env': ENV });
    s.write('.env', 'STRIPE_KEY=sk_live_51HxOtherSecretValue\n');
    s.link('.env', 'plain');
    const ids = [s.id('.env'), s.id('plain')];
    s.fs.setRules('sb_1', RULES);
    for (const text of [s.read('.env'), s.read('plain'), ...ids.map((id) => s.readId(id))]) {
      expect(text).not.toContain('Secret');
    }
    expect(outcome(() => s.unlink('plain'))).toBe('ok');
    expect(outcome(() => s.write('.env', 'x'))).toBe('EACCES');
  });

  itOfLayers('is redacted in a directory that was renamed before the rule', () => {
    const s = new Sandbox({ 'conf/.env': ENV, 'conf/app.txt': SECRET });
    s.rename('conf', 'moved');
    s.fs.setRules('sb_1', [...ALL_WRITE, redacted('conf/**', 'all')]);
    expect(s.read('moved/.env')).toBe('# hidden\n');
    expect(s.read('moved/app.txt')).toBe('# hidden\n');
  });

  itOfLayers('follows a change of the codebase, and the node that was open keeps placeholders', () => {
    const s = make();
    const id = s.id('.env');
    const before = s.readId(id);
    s.fs.baseChanging('cb_1', ['.env' as never]);
    s.putBase('.env', 'STRIPE_KEY=sk_live_51HxAnotherSecret\nNEW=SecretToo\n');
    s.fs.baseChanged('cb_1', ['.env' as never]);
    expect(s.readId(id)).not.toContain('Secret');
    const after = s.read('.env');
    expect(after).not.toContain('Secret');
    expect(after).toContain('NEW=pdk');
    expect(after).not.toBe(before);
  });

  it('keeps no original in the delta', () => {
    const s = make();
    s.read('.env');
    expect(readdirSync(s.spec.delta)).toContain('redaction-key');
    const all = readdirSync(s.spec.delta, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    for (const { parentPath, name } of all)
      expect(readFileSync(join(parentPath, name), 'latin1')).not.toContain('Very');
  });

  it('makes no key without such a file', () => {
    const s = make();
    s.read('other');
    expect(readdirSync(s.spec.delta)).not.toContain('redaction-key');
  });

  it('is redacted by its own path only, if the codebase has it under a second one', () => {
    const s = make({ '.env': ENV });
    linkSync(join(s.spec.base, '.env'), join(s.spec.base, '.env.two'));
    expect(s.read('.env.two')).toBe(s.read('.env'));
  });
});

describe('the file API', () => {
  const open = (s: Sandbox, actor: 'agent' | 'owner', path = '.env') =>
    s.fs.files('sb_1', actor, 'open', [path, true]) as OpenedFile;

  it('shows an agent placeholders, and the owner the original', () => {
    const s = make();
    const [agent, owner] = [open(s, 'agent'), open(s, 'owner')];
    expect(Buffer.from(agent.data).toString()).toBe(s.read('.env'));
    expect(Buffer.from(owner.data).toString()).toBe(ENV);
    expect(agent).toMatchObject({ size: agent.data.length, handle: 0, level: 2 });
    expect(agent.version).toMatch(/^r[0-9a-f]{32}-[0-7]+$/);
    expect(s.fs.files('sb_1', 'agent', 'stat', ['.env'])).toMatchObject({ size: agent.size });
    expect(s.fs.files('sb_1', 'owner', 'stat', ['.env'])).toMatchObject({ size: ENV.length });
  });

  it('tells the owner the values that are replaced, and an agent nothing', () => {
    const s = make();
    const redaction = (actor: 'agent' | 'owner', path: string) => s.fs.files('sb_1', actor, 'redaction', [path, true]);
    expect(redaction('owner', '.env')).toEqual({
      content: s.read('.env'),
      isHidden: false,
      replaced: [
        { key: 'STRIPE_KEY', place: 'STRIPE_KEY', value: SECRET, placeholder: /sk_live_\w+/.exec(s.read('.env'))![0] },
      ],
    });
    expect(redaction('owner', 'other')).toBeUndefined();
    s.symlink('.env', 'link');
    expect(() => redaction('agent', '.env')).toThrow('has placeholders here');
    expect(() => redaction('owner', 'link')).toThrow('does not permit it');
  });

  it('packs placeholders for an agent', () => {
    const s = make({ '.env': ENV, 'a/.env': ENV });
    const packed = s.fs.files('sb_1', 'agent', 'pack', ['', '', 100]) as Packed;
    expect(Buffer.from(packed.data).toString()).toBe(s.read('.env') + s.read('a/.env'));
    const whole = s.fs.files('sb_1', 'owner', 'pack', ['', '', 100]) as Packed;
    expect(Buffer.from(whole.data).toString()).toBe(ENV + ENV);
  });

  itOfLayers('gives an agent no file of the host, and ends a download that began before the rule', () => {
    const big = `A=${'x'.repeat(2 << 20)}\n`;
    const s = new Sandbox({ '.env': big }, { changeCount: new Int32Array(new SharedArrayBuffer(8)) });
    const before = open(s, 'agent');
    expect(before.host).toBeDefined();
    s.fs.setRules('sb_1', RULES);
    const ended = (operation: 'read' | 'check', ...more: number[]) =>
      expect(() => s.fs.files('sb_1', 'agent', operation, [before.handle, before.version, ...more])).toThrow('changed');
    ended('read', 0, 100);
    ended('check');
    const after = open(s, 'agent');
    expect(after.host).toBeUndefined();
    expect(Buffer.from(after.data).toString()).toBe('# hidden\n');
    expect(open(s, 'owner').host).toBeDefined();
  });

  it('reads a form that is too long for one answer piece by piece, without the host file', () => {
    const lines = Array.from({ length: 30_000 }, (_, n) => `LONG_NAME_${String(n).padStart(6, '0')}=x\n`).join('');
    const s = new Sandbox({ '.env': lines }, { rules: RULES, changeCount: new Int32Array(new SharedArrayBuffer(8)) });
    const { data, handle, version, size, host } = open(s, 'agent');
    expect(host).toBeUndefined();
    const rest = s.fs.files('sb_1', 'agent', 'read', [handle, version, data.length, 1 << 20]) as Uint8Array;
    const text = Buffer.concat([data, rest]).toString();
    expect(text).toHaveLength(size);
    expect(text.split('\n').filter((line) => !/^LONG_NAME_\d{6}=pdk[a-z2-7]{24}$/.test(line))).toEqual(['']);
  });

  it('reads the target of a link that an agent may write with the rules of the agent', () => {
    const s = make();
    s.symlink('.env', 'link');
    expect(Buffer.from(open(s, 'owner', 'link').data).toString()).toMatch(SHOWN);
  });
});
