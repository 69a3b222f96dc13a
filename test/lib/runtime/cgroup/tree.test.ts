import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CgroupTree, startedIn } from '../../../../lib/runtime/cgroup/tree.ts';
import { until } from '../bwrap/fixture.ts';
import { RESOURCES } from '../run.ts';

it('a sandbox whose last run has not ended is UNAVAILABLE, for any name of that run’s cgroups', async () => {
  const tree = new CgroupTree(`test-${process.pid}`);
  tree.open();
  const cgroup = tree.create('spare-1', RESOURCES)!;
  const stuck = spawn('sleep', ['60'], { stdio: 'ignore' });
  for (const entry of cgroup.entries) writeFileSync(entry, String(stuck.pid));
  expect(cgroup.remove()).toBe(false);
  tree.leave('sb_1', cgroup);
  expect(() => tree.vacate('sb_1')).toThrow('have not ended yet');
  tree.vacate('sb_2');
  stuck.kill('SIGKILL');
  await until('it has ended', () => {
    try {
      tree.vacate('sb_1');
      return true;
    } catch {
      return false;
    }
  });
  tree.close();
});

it('the cgroup in which a server was started is not the leaf to which an earlier server moved its shell', () => {
  expect(startedIn('/user.slice/a.scope/paddock-host')).toBe('/user.slice/a.scope');
  expect(startedIn('/paddock-host')).toBe('/');
  expect(startedIn('/user.slice/a.scope')).toBe('/user.slice/a.scope');
  expect(startedIn('/')).toBe('/');
});
