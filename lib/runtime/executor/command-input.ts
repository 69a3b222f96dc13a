import { join } from 'node:path';
import type { Command } from '../runtime.ts';
import type { InputNames } from './command-script.ts';
import { newNonce, type RunnerHost } from './runner.ts';
import { Stdin } from './stdin.ts';
import { Terminal } from './terminal/terminal.ts';

/** Returns the names of the FIFOs that the command needs. A program inside can see the names of those that it has open. */
export function inputNames({ stdin, openStdin, terminal }: Command): InputNames {
  if (!openStdin && !terminal && stdin.length === 0) return {};
  const name = newNonce();
  return { stdin: `${name}.in`, ...(terminal && { sizes: `${name}.sizes` }) };
}

/** Creates and opens the FIFOs in the agent directory. The owner must close what is returned. */
export async function openInput(host: RunnerHost, names: InputNames, command: Command): Promise<Stdin | undefined> {
  if (names.stdin === undefined) return undefined;
  const path = join(host.dir, names.stdin);
  const sizes = names.sizes && join(host.dir, names.sizes);
  await host.fifos.place(sizes === undefined ? [path] : [path, sizes], host.uid);
  if (sizes !== undefined) return Terminal.open(path, sizes, host);
  return new Stdin(path, command.openStdin ? undefined : command.stdin);
}
