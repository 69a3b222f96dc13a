import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fromText, ROOT_PATH, toText } from '../../../lib/byte-string.ts';
import { commitAll } from './commit.ts';
import { ALL_WRITE, outcome, rule, Sandbox } from './sandbox.ts';

const SECRET = 'sk_live_51HxVerySecretValue';
const ENV = `# was ${SECRET}\nSTRIPE_KEY="${SECRET}" # live\nROOM=5432\nDEBUG=true\n`;

const merged = (pattern: string, redactor = '') => ({
  ...rule(pattern, 'READ', 1),
  view: 'redacted',
  redactor,
  on_write: 'merge',
});
const RULES = [...ALL_WRITE, merged('**/.env*'), merged('**/*.yaml'), merged('**/*.json')];
const make = (base: Record<string, string> = { '.env': ENV, other: 'o' }) => new Sandbox(base, { rules: RULES });
const inBase = (s: Sandbox, path = '.env') => readFileSync(join(s.spec.base, path), 'utf8');
const changed = (s: Sandbox) => s.fs.changes(s.spec.id, ROOT_PATH, 100).changes.map(({ path }) => toText(path));
const shownAs = (s: Sandbox, as: 'agent' | 'commit', path = '.env') => {
  const { now, base } = s.fs.redactedTexts(s.spec.id, fromText(path), as);
  return { now: now && Buffer.from(now).toString(), base: base && Buffer.from(base).toString() };
};
const fork = (s: Sandbox) => {
  const layers = s.spec.layers!;
  expect(layers).toBeDefined();
  const { layer } = s.fs.freeze(s.spec.id);
  s.goOn({ ...s.spec, id: `${s.spec.id}x`, delta: `${s.spec.delta}x`, origin: layer });
};
const withLayers = (base = { '.env': ENV }) => {
  const layers = mkdtempSync(join(tmpdir(), 'layers-test-'));
  onTestFinished(() => rmSync(layers, { recursive: true }));
  return new Sandbox(base, { rules: RULES, layers });
};

describe('a file whose changes are merged', () => {
  it('is changed with placeholders, and a commit puts the values back', () => {
    const s = make();
    const before = s.read('.env');
    expect(before).not.toContain('Very');
    expect(s.stat('.env')).toMatchObject({ uid: s.caller.uid, mode: 0o100644 });
    s.write('.env', 'NEW=mine\n', before.length);
    expect(s.read('.env')).toBe(`${before}NEW=mine\n`);
    s.forgetAll();
    expect(s.read('.env')).toBe(`${before}NEW=mine\n`);
    expect(shownAs(s, 'commit').now).toBe(`${ENV}NEW=mine\n`);
    expect(shownAs(s, 'agent')).toEqual({ now: `${before}NEW=mine\n`, base: before });
    const id = s.id('.env');
    commitAll(s);
    expect(inBase(s)).toBe(`${ENV}NEW=mine\n`);
    expect(changed(s)).toEqual([]);
    for (const text of [s.read('.env'), s.readId(id)]) {
      expect(text).toContain('NEW=pdk');
      expect(text).not.toMatch(/Very|mine/);
      expect(text.slice(0, before.length)).toBe(before);
    }
  });

  it('is replaced by a rename, as editors do, also from a name without the rule', () => {
    const s = make();
    const before = s.read('.env');
    s.create('.env.swp', before.replace('5432', '1'));
    s.rename('.env.swp', '.env');
    s.create('plain', `FIRST=1\n${s.read('.env')}`);
    s.rename('plain', '.env');
    expect(s.read('.env')).toBe(`FIRST=1\n${before}`);
    commitAll(s);
    expect(inBase(s)).toBe(`FIRST=1\n${ENV}`);
    expect(s.read('.env')).not.toMatch(/Very/);
  });

  it('is no change if it is written as it was, and shows nothing of a value that was guessed', () => {
    const s = make({ '.env': 'PIN=1234\n' });
    const before = s.read('.env');
    s.write('.env', before);
    expect(changed(s)).toEqual([]);
    s.unlink('.env');
    s.create('.env', 'PIN=1234\n');
    expect(changed(s)).toEqual(['.env']);
    s.fs.revertUnchanged(s.spec, { paths: [fromText('.env')], removed: [] }, false);
    expect(s.read('.env')).toBe('PIN=1234\n');
    commitAll(s);
    s.unlink('.env');
    s.create('.env', 'X=1234\nPIN=9\nPIN=1234\n');
    commitAll(s);
    // Neither at another key nor at another place of its own.
    const shown = s.read('.env');
    for (const placeholder of shown.match(/pdk\w+/g)!) expect(before).not.toContain(placeholder);
  });

  it.each<[string, (text: string) => string, RegExp]>([
    ['at another key', (t) => t.replace('STRIPE_KEY', 'PUBLIC'), /PUBLIC="sk_live_pdk/],
    ['in a comment', (t) => `# ${/sk_live_\w+/.exec(t)![0]}!\n`, /^# sk_live_pdk\w+!\n$/],
    ['in a part of a value', (t) => t.replace(/"(sk_live_\w+)"/, '"x$1"'), /"xsk_live_pdk/],
    ['in a file of no format', (t) => `${t}\nno format\n`, /KEY="sk_live_pdk/],
  ])('keeps a placeholder %s', (_, edit, stays) => {
    const s = make({ '.env': ENV.replace(/^.*\n/, '') });
    s.create('new', edit(s.read('.env')));
    s.rename('new', '.env');
    commitAll(s);
    expect(inBase(s)).toMatch(stays);
    expect(inBase(s)).not.toContain(SECRET);
    expect(s.read('.env')).not.toContain('Very');
  });

  it('does not put a word back into a comment that would then be shown', () => {
    const s = make({ '.env': '# hunter2hunter2 is old\nPASSWORD=hunter2hunter2\n' });
    const [comment] = s.read('.env').split('\n');
    expect(comment).toMatch(/^# pdk\w+ is old$/);
    s.create('new', `${comment}\n`);
    s.rename('new', '.env');
    commitAll(s);
    expect(inBase(s)).toBe(`${comment}\n`);
  });

  it('has values in another order, and in lists', () => {
    const yaml = 'db:\n  password: one # x\nkeys:\n  - first\n  - second\ntext: |\n  several\n  lines\n';
    const s = make({ 'a.yaml': yaml, 'a.json': '{"n": 5, "list": [{"k": "v1"}, {"k": "v2"}]}' });
    const lines = s.read('a.yaml').split('\n');
    const [first, second] = lines.filter((line) => line.startsWith('  - '));
    s.create('y', s.read('a.yaml').replace(`${first}\n${second}`, `${second}\n${first}\n  - third`));
    s.rename('y', 'a.yaml');
    const [, n, one, two] = /"n": ("\w+"), "list": \[(\{.*?\}), (\{.*?\})\]/.exec(s.read('a.json'))!;
    s.create('j', `{"list": [${two}, {"k": "new"}, ${one}], "n": ${n}}`);
    s.rename('j', 'a.json');
    commitAll(s);
    expect(inBase(s, 'a.yaml')).toBe(yaml.replace('- first\n  - second', '- second\n  - first\n  - third'));
    expect(inBase(s, 'a.json')).toBe('{"list": [{"k": "v2"}, {"k": "new"}, {"k": "v1"}], "n": 5}');
  });

  it('keeps its placeholders at another path, by rename, link and copy', () => {
    const s = make();
    const before = s.read('.env');
    s.link('.env', 'linked');
    s.create('copy', before);
    s.rename('.env', 'moved');
    for (const path of ['linked', 'copy', 'moved']) expect(s.read(path)).toBe(before);
    commitAll(s);
    for (const path of ['linked', 'copy', 'moved']) {
      expect(inBase(s, path)).toBe(before);
      expect(s.read(path)).toBe(before);
    }
    expect(s.exists('.env')).toBe(false);
  });

  it('is the same after a restart, a rollback and in forks of forks, which can commit it', () => {
    const s = withLayers();
    s.write('.env', 'NEW=1\n', s.read('.env').length);
    const text = s.read('.env');
    s.restart();
    expect(s.read('.env')).toBe(text);
    const { layer } = s.fs.freeze(s.spec.id);
    s.write('.env', 'LATER=1\n', text.length);
    s.fs.rollback(s.spec.id, layer);
    expect(s.read('.env')).toBe(text);
    for (let generation = 0; generation < 2; generation++) {
      fork(s);
      expect(s.read('.env')).toBe(text);
    }
    s.restart();
    expect(s.read('.env')).toBe(text);
    commitAll(s);
    expect(inBase(s)).toBe(`${ENV}NEW=1\n`);
    expect(s.read('.env')).not.toContain('Very');
  });

  it('gets the present value of a key of the codebase, and none of a key that it does not have any more', () => {
    const s = make();
    s.write('.env', 'NEW=1\n', s.read('.env').length);
    s.fs.baseChanging('cb_1', [fromText('.env')]);
    s.putBase('.env', 'STRIPE_KEY=sk_live_rotatedSecret\n');
    s.fs.baseChanged('cb_1', [fromText('.env')]);
    expect(s.fs.changes(s.spec.id, ROOT_PATH, 1).changes[0]?.conflict).toBe(true);
    const merged = shownAs(s, 'commit').now;
    expect(merged).toContain('STRIPE_KEY=sk_live_rotatedSecret\nROOM=pdk');
    expect(shownAs(s, 'agent').now).not.toContain('rotated');
  });

  it('cannot be changed if nothing of it is shown, the owner wrote it, or it has other links', () => {
    const s = make({ '.env': 'no format\n', '.env.own': ENV, '.env.big': 'A=1\n'.repeat(20_000) });
    const handle = s.fs.files('sb_1', 'owner', 'stage', [Buffer.from(ENV)]) as number;
    s.fs.files('sb_1', 'owner', 'place', [handle, '.env.own', 0]);
    s.create('new', 'x');
    for (const path of ['.env', '.env.own']) {
      expect(s.read(path)).not.toContain('Very');
      expect(s.stat(path).mode & 0o222).toBe(0);
      for (const act of [
        () => s.write(path, 'x'),
        () => s.set(path, { size: 0 }),
        () => s.unlink(path),
        () => s.rename('new', path),
        () => s.rename(path, 'away'),
        () => s.link(path, 'linked'),
      ]) {
        expect(outcome(act)).toBe('EACCES');
      }
    }
    expect(outcome(() => s.write('.env.big', 'x'))).toBe('EACCES');
    expect(outcome(() => s.rename('new', '.env.big'))).toBe('ok');
  });

  it('does not move with its directory', () => {
    const s = make({ 'conf/.env': ENV, 'conf/x': 'x' });
    s.write('conf/.env', 'N=1\n', s.read('conf/.env').length);
    expect(outcome(() => s.rename('conf', 'moved'))).toBe('EACCES');
  });

  it('is the text of the agent by the file API, and not after the owner replaced it', () => {
    const s = make();
    const before = s.read('.env');
    const place = (actor: 'agent' | 'owner', text: string) => {
      const handle = s.fs.files('sb_1', actor, 'stage', [Buffer.from(text)]) as number;
      s.fs.files('sb_1', actor, 'place', [handle, '.env', 0]);
    };
    place('agent', `${before}A=1\n`);
    expect(s.read('.env')).toBe(`${before}A=1\n`);
    place('owner', 'OWN=OwnerSecret\n');
    expect(s.read('.env')).not.toContain('OwnerSecret');
    expect(outcome(() => s.write('.env', 'x'))).toBe('EACCES');
    // Behind a link of the agent the owner writes with the rules of the agent, but what it writes is not the agent's.
    s.symlink('.env.two', 'to');
    const handle = s.fs.files('sb_1', 'owner', 'stage', [Buffer.from('OWN=OwnerSecret\n')]) as number;
    s.create('.env.two', '');
    s.fs.files('sb_1', 'owner', 'place', [handle, 'to', 0]);
    expect(s.read('.env.two')).not.toContain('OwnerSecret');
  });

  it('shows what it had as text under stricter rules, and a commit of the owner puts the values back', () => {
    const s = make();
    s.write('.env', 'NEW=1\n', s.read('.env').length);
    const text = s.read('.env');
    s.fs.setRules('sb_1', [...ALL_WRITE, { ...merged('**/.env'), on_write: '' }]);
    expect(s.read('.env')).toBe(text);
    expect(outcome(() => s.write('.env', 'x'))).toBe('EACCES');
    expect(shownAs(s, 'commit').now).toBe(`${ENV}NEW=1\n`);
  });

  it('is no text any more once it was written under a rule that shows values', () => {
    const s = make();
    s.write('.env', 'NEW=1\n', s.read('.env').length);
    s.fs.setRules('sb_1', ALL_WRITE);
    s.write('.env', 'SEEN=OtherSecret\n', s.read('.env').length);
    s.fs.setRules('sb_1', RULES);
    expect(s.read('.env')).not.toContain('OtherSecret');
    s.restart();
    expect(s.read('.env')).not.toContain('OtherSecret');
  });

  it('keeps what it is in a journal that was rewritten', () => {
    const s = make();
    const text = s.read('.env');
    s.write('.env', 'NEW=1\n', text.length);
    for (let n = 0; n < 1200; n++) {
      s.create('x');
      s.unlink('x');
    }
    s.restart();
    expect(s.read('.env')).toBe(`${text}NEW=1\n`);
    s.restart();
    expect(s.read('.env')).toBe(`${text}NEW=1\n`);
    expect(shownAs(s, 'commit').now).toBe(`${ENV}NEW=1\n`);
  });

  it('is large in archives and removals, too', () => {
    const s = make({ '.env': `K=VerySecret\n${'#\n'.repeat(30_000)}${'A=VerySecret\n'.repeat(3000)}` });
    const { more } = s.fs.files('sb_1', 'agent', 'remove', ['.env', false, false, 10]) as { more: boolean };
    expect(more).toBe(false);
    expect(s.exists('.env')).toBe(false);
  });

  it('is rebased after a commit that a crash cut off, in another order and at another path, too', () => {
    const list = 'keys:\n  - first\n  - second\n';
    const others = make({ 'a.yaml': list, '.env': ENV, '.env.mode': ENV });
    const [first, second] = others.read('a.yaml').split('\n').slice(1);
    others.create('y', `keys:\n${second}\n${first}\n`);
    others.rename('y', 'a.yaml');
    others.rename('.env', 'moved');
    others.set('.env.mode', { mode: 0o100600 });
    commitAll(others, true, { after: () => others.set('.env.mode', { mode: 0o100640 }) });
    expect(changed(others)).toEqual(['.env.mode']);
    expect(inBase(others, 'a.yaml')).toBe('keys:\n  - second\n  - first\n');
    others.fs.baseChanging('cb_1', [fromText('moved')]);
    others.putBase('moved', 'of another');
    others.fs.baseChanged('cb_1', [fromText('moved')]);
    expect(others.read('moved')).toBe('of another');
  });

  it('shows which of some words is a value, but none of many', () => {
    const s = make({ '.env': 'PASSWORD=hunter2000\nOTHER=x\n' });
    s.create('new', s.read('.env') + Array.from({ length: 65 }, (_, n) => `# hunter${1990 + n}\n`).join(''));
    s.rename('new', '.env');
    commitAll(s);
    expect(inBase(s)).toMatch(/^PASSWORD=pdk\w+\nOTHER=x\n/);
    expect(s.read('.env')).toContain('# hunter2000\n');
  });

  it('has its level at each of its links, however many', () => {
    const s = make();
    s.link('.env', '.env.two');
    s.rename('.env', 'plain');
    s.unlink('.env.two');
    s.write('plain', 'A=1\n');
    expect(s.read('plain')).toMatch(/^A=1\n/);
    s.rename('plain', '.env.three');
    s.write('.env.three', 'B=2\n');
    expect(s.read('.env.three')).toMatch(/^B=2\n/);
  });

  it('is rebased after a commit that a crash cut off', () => {
    const s = make();
    s.write('.env', 'NEW=1\n', s.read('.env').length);
    commitAll(s, true);
    expect(changed(s)).toEqual([]);
  });
});
