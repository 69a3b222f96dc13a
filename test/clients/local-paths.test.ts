import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Home } from '../../clients/cli/src/review/home.ts';
import { localRefusal } from '../../local-refusals/local-refusal.ts';
import { runsOnUse } from '../../local-refusals/programs.ts';
import { emptyDirectory, put } from '../directory.ts';

interface Case {
  name: string;
  local?: string[];
  incoming: string[];
  git?: boolean;
  allow?: string[];
  never: string[];
  ask: string[];
}

const SPEC = resolve(import.meta.dirname, '../../clients/spec/local-paths.json');
interface Link {
  path: string;
  target: string;
  comes: boolean;
}

const { cases, links } = JSON.parse(readFileSync(SPEC, 'utf8')) as { cases: Case[]; links: Link[] };

const directory = emptyDirectory();

describe('what comes home', () => {
  it.each(cases)('$name', async ({ local = [], incoming, git = false, allow = [], never, ask }) => {
    for (const path of local) {
      if (path.endsWith('/')) mkdirSync(join(directory, path), { recursive: true });
      else put(directory, path);
    }
    const home = new Home(directory, { git, allow });
    const found = { never: [] as string[], ask: [] as string[] };
    for (const given of incoming) {
      const path = given.replace(/\/$/, '');
      const refusal = await home.refusal({ path, type: path === given ? 'file' : 'directory' });
      if (refusal) found[refusal.allow === undefined ? 'never' : 'ask'].push(given);
    }
    expect(found).toEqual({ never, ask });
  });

  it('says what runs a file when it is used', () => {
    const tools = ['Makefile', 'a/package.json', 'gradle/wrapper/gradle-wrapper.jar', 'vite.config.ts', 'src/main.c'];
    expect(tools.map((path) => runsOnUse(path)?.tool)).toEqual(['make', 'npm', 'gradle', 'node', undefined]);
  });

  it.each(links)('symlink $path to $target: $comes', ({ path, target, comes }) => {
    expect(localRefusal({ path, target, type: 'symlink' }) === undefined).toBe(comes);
  });
});
