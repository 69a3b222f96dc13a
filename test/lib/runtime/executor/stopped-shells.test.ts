import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';
import { openShells } from './shells.ts';

const machines = [
  { host: 'cgroups', machine: openShells({ cgroups: true }) },
  { host: 'no cgroups', machine: openShells() },
];
const signal = new AbortController().signal;
const within = { timeoutMs: 60_000 };

describe.each(machines)('on a host with $host', ({ machine: { launch } }) => {
  it('a command that stops everything around it ends, and commands and sessions go on', async () => {
    const box = await launch();
    const shell = await box.openShell({ shell: '', env: {}, workdir: '', ownWorkdir: false, signal });
    const inShell = async (script: string) => {
      let output = '';
      for await (const event of await shell.run({ command: script, signal, ...within }))
        if (event.kind === 'output') output += event.data;
      return output;
    };
    expect(await inShell('x=kept; sleep 600 & kill -STOP $!')).toBe('');
    expect(await run(box, 'kill -STOP -1; echo on', within)).toMatchObject({ exitCode: 0, stdout: 'on\n' });
    // More than there are runners: the agent has to start some.
    const more = await Promise.all(Array.from({ length: 12 }, () => run(box, 'sleep 0.1; echo there', within)));
    for (const each of more) expect(each).toMatchObject({ exitCode: 0, stdout: 'there\n' });
    expect(await inShell('echo "$x"')).toBe('kept\n');
    // What a command stops of its own stays so.
    expect(await inShell('cut -d" " -f3 /proc/$!/stat')).toBe('T\n');
    await shell.close();
  });
});
