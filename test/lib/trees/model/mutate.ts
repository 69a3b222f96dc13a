import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Mutant } from './mutants.ts';

type Play = (seed: number, steps: number) => void;

/** A room and its model: a module with `play`. */
export interface Modelled {
  readonly room: string;
  readonly model: string;
  readonly steps: number;
}

const TREES: Modelled = { room: 'lib/trees', model: 'test/lib/trees/model/play.ts', steps: 60 };

/** The model, on a copy of the room with the fault. */
async function withFault(mutant: Mutant, { room, model }: Modelled): Promise<Play> {
  const directory = mkdtempSync(join(tmpdir(), 'trees-mutant-'));
  const file = resolve(room, mutant.file);
  const outfile = join(directory, 'play.mjs');
  try {
    await build({
      entryPoints: [resolve(model)],
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
export async function find(
  mutant: Mutant,
  sequences: number,
  modelled = TREES,
): Promise<{ count: number; told: string } | undefined> {
  const play = await withFault(mutant, modelled);
  for (let seed = 1; seed <= sequences; seed++) {
    try {
      play(seed, modelled.steps);
    } catch (error) {
      return { count: seed, told: (error as Error).message };
    }
  }
  return undefined;
}
