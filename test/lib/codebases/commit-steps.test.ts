import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { applySteps, type Step } from '../../../lib/codebases/commit-steps.ts';

let root: string;
const at = (name: string) => join(root, 'files', name);
const apply = (...steps: Step[]) => applySteps(join(root, 'files'), join(root, 'staging'), steps);
const modeOf = (name: string) => statSync(at(name)).mode & 0o777;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'commit-steps-'));
  mkdirSync(at(''));
  mkdirSync(join(root, 'staging'));
  writeFileSync(at('one'), 'text', { mode: 0o644 });
  linkSync(at('one'), at('two'));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('new permission bits of a file with several hard links', () => {
  it('are those of the named path only', async () => {
    const before = statSync(at('two'));
    expect(await apply(['chmod', fromText('one'), 0o755])).toEqual([]);
    expect([modeOf('one'), modeOf('two')]).toEqual([0o755, 0o644]);
    expect(statSync(at('two')).ino).toBe(before.ino);
    expect(readFileSync(at('one'), 'utf8')).toBe('text');
    expect(Math.abs(statSync(at('one')).mtimeMs - before.mtimeMs)).toBeLessThan(1);
  });

  it('are set at each path that is named, also again after a crash', async () => {
    const steps: Step[] = [
      ['chmod', fromText('one'), 0o755],
      ['chmod', fromText('two'), 0o600],
    ];
    await apply(...steps);
    await apply(...steps);
    expect([modeOf('one'), modeOf('two')]).toEqual([0o755, 0o600]);
  });
});
