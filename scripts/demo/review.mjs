/**
 * Reviews an agent's work: lists its changes, forks it, discards a part and commits the rest. `demo` contains the functions
 * of demo.mjs; `project` is a checkout with the contents of the codebase.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const EDIT = 'echo "An agent was here." >> README.md && mkdir -p notes && date > notes/today && rm LICENSE';

export async function reviewAndCommit(demo, codebase, { project, git, directory }) {
  const { report, service, command, createSandbox, succeeds } = demo;
  report.section('Review and commit');
  const sandbox = await createSandbox(codebase);
  const at = `/v1/sandboxes/${sandbox.id}`;
  await command(
    sandbox,
    EDIT,
    'an agent works',
    succeeds((out) => out === ''),
  );

  await report.step('changes', async () => {
    const { changes } = await service.call('GET', `${at}/changes`);
    const lines = changes.map(({ path, kind }) => `${kind.slice(7).toLowerCase().padEnd(8)} ${path}`);
    const expected = 'deleted  LICENSE, modified README.md, added    notes, added    notes/today';
    report.check(
      'the changes are those of the agent, in order of the paths',
      lines.join(', ') === expected,
      lines.join(', '),
    );
    return { text: lines.join('\n') };
  });
  await report.step('patch', async () => {
    const { body } = await service.send('GET', `${at}/changes?format=patch`);
    const file = join(directory, 'changes.patch');
    writeFileSync(file, body);
    git(project, 'apply', '--check', file);
    report.check(
      'git apply accepts the patch',
      git(project, 'apply', '--summary', file).includes('delete mode 100644 LICENSE'),
    );
    return { text: `${body.split('\n').length} lines` };
  });
  await tryOut(demo, at);
  await keepSome(demo, codebase, at);
  await service.call('DELETE', at);
}

/** Forks the sandbox twice, and replaces the rules of one fork while it runs. */
async function tryOut({ report, service, command, succeeds, refused }, at) {
  const forks = await report.step('fork', async () => {
    const { results } = await service.call('POST', `${at}/fork`, { count: 2 });
    return {
      text: results.map(({ sandbox: fork }) => fork.id).join('\n'),
      value: results.map(({ sandbox: fork }) => fork),
    };
  });
  const [one, two] = forks;
  await command(
    one,
    'cat README.md | tail -n 1; echo more >> README.md',
    'a fork starts with the changes',
    (result) => {
      return result.stdout === 'An agent was here.\n';
    },
  );
  await command(
    two,
    'tail -n 1 README.md',
    'the other fork does not see later changes',
    succeeds((out) => out === 'An agent was here.\n'),
  );
  await service.call('PUT', `/v1/sandboxes/${two.id}/permissions`, { preset: 'read-only' });
  await command(two, 'echo x >> README.md', 'a fork obeys new rules at once', refused('Permission denied'));
  for (const { id } of forks) await service.call('DELETE', `/v1/sandboxes/${id}`);
}

async function keepSome({ report, service, command, createSandbox, succeeds }, codebase, at) {
  const rival = await createSandbox(codebase);
  await command(
    rival,
    'echo "So was another." >> README.md',
    'another sandbox changes the same file',
    succeeds(() => true),
  );
  await report.step('discard', async () => {
    await service.call('POST', `${at}/discard`, { paths: ['LICENSE'] });
    return { text: 'LICENSE goes back to what it was' };
  });
  await report.step('commit', async () => {
    const { count } = await service.call('POST', `${at}/commit`, {});
    const { body } = await service.send('GET', `/v1/codebases/${codebase.id}/files/README.md`);
    report.check('the codebase contains the change', body.endsWith('An agent was here.\n'));
    return { text: `${count} changes` };
  });
  await command(
    rival,
    'ls notes',
    'every sandbox sees the new file',
    succeeds((out) => out === 'today\n'),
  );
  await report.step('conflict', async () => {
    const path = `/v1/sandboxes/${rival.id}/commit`;
    const refusal = await service.call('POST', path, {}).catch((error) => error);
    report.check(
      'a second commit of the same file changes nothing and reports the conflict',
      refusal.code === 10,
      refusal.message,
    );
    return { text: refusal.message };
  });
  await service.call('DELETE', `/v1/sandboxes/${rival.id}`);
}
