import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Mutant } from './mutants.ts';

type Play = (seed: number, steps: number) => void;

/** The model, on a copy of lib/trees with the fault. */
async function withFault(mutant: Mutant): Promise<Play> {
  const directory = mkdtempSync(join(tmpdir(), 'trees-mutant-'));
  const file = resolve('lib/trees', mutant.file);
  const outfile = join(directory, 'play.mjs');
  try {
    await build({
      entryPoints: [resolve('test/lib/trees/model/play.ts')],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
      plugins: [
        {
          name: 'fault',
          setup: ({ onLoad }) =>
            onLoad({ filter: /\.ts$/ }, ({ path }) => (path === file ? mutated(file, mutant) : null)),
        },
      ],
    });
    const { play } = (await import(pathToFileURL(outfile).href)) as { play: Play };
    return play;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function mutated(file: string, { text, instead }: Mutant): { contents: string; loader: 'ts' } {
  const parts = readFileSync(file, 'utf8').split(text);
  if (parts.length !== 2) throw new Error(`${file} has the text ${parts.length - 1} times: ${text}`);
  return { contents: parts.join(instead), loader: 'ts' };
}

/** How many sequences it takes to find the fault, and what is told; undefined if that many do not find it. */
export async function find(mutant: Mutant, sequences: number): Promise<{ count: number; told: string } | undefined> {
  const play = await withFault(mutant);
  for (let seed = 1; seed <= sequences; seed++) {
    try {
      play(seed, 60);
    } catch (error) {
      return { count: seed, told: (error as Error).message };
    }
  }
  return undefined;
}
