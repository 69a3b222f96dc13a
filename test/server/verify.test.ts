import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fingerprint, flip, State, storageIn } from '../lib/verify/state.ts';
import { Place } from './program.ts';

it('the exit code of paddock verify is different for an intact, a damaged and an unchecked state', async () => {
  const place = new Place();
  try {
    const state = new State();
    const { codebasePath, mountPath, dbPath } = storageIn(state.home);
    const storage = `storage: {codebase_path: ${codebasePath}, mount_path: ${mountPath}, db_path: ${dbPath}}\n`;
    const argv = ['verify', '-config', place.write('state.yaml', storage)];
    const whole = await place.run(argv);
    expect(whole).toMatchObject({ code: 0, stderr: '' });
    expect(whole.stdout).toMatch(/^0 damaged, 0 notes; checked 1 codebases, 2 sandboxes/);

    flip(join(mountPath, 'layers', state.layer, 'index'), 40);
    const before = fingerprint(state.home);
    const damaged = await place.run(argv);
    expect(damaged).toMatchObject({ code: 1, stderr: '' });
    expect(damaged.stdout).toMatch(/^damaged: .*\/index: .*line 1 does not match its checksum \(/);
    expect(fingerprint(state.home)).toEqual(before);

    const absent = await place.run(['verify', '-config', place.config()]);
    expect(absent).toMatchObject({ code: 2, stdout: '' });
    expect(absent.stderr).toMatch(/^paddock: storage\.db_path: .* there is no state to verify\n$/);
    expect(await place.run(['verify', '-runtime', 'mock'])).toMatchObject({ code: 2, stdout: '' });
  } finally {
    place.remove();
  }
});
