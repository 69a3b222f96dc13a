import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { useBwrap } from '../bwrap/fixture.ts';
import { run } from '../run.ts';
import { openTerminal, SIZE } from './open-terminal.ts';
import { Screen } from './screen.ts';

const bwrap = useBwrap();
let box: RunningSandbox;
beforeAll(async () => {
  box = await bwrap.launch();
  await run(
    box,
    `mkdir -p dep app; echo '{"name": "dep", "version": "1.0.0"}' >dep/package.json
     echo '{"name": "app", "dependencies": {"dep": "file:../dep"}}' >app/package.json
     seq -f 'def test_%g(): pass' 160 >test_many.py; echo 'def test_wrong(): assert 1 == 2' >>test_many.py`,
  );
});

/** The exit code, the output, and what the terminal shows at the end. */
async function onTerminal(program: string) {
  const terminal = await openTerminal(box, program);
  const exitCode = await terminal.ended;
  return { exitCode, output: terminal.text(), shown: (await new Screen(SIZE).lines(terminal.output())).join('\n') };
}

const ESCAPE = '\x1b';
const NPM =
  'cd app; rm -rf node_modules; npm install --offline --no-audit --no-fund --no-update-notifier --cache /tmp/npm';
const PYTEST = 'pytest-3 -p no:cacheprovider test_many.py';

describe('progress', () => {
  it('of npm is drawn and erased on a terminal, and is not in a pipe', async () => {
    const drawn = await onTerminal(`${NPM} --progress=true`);
    expect(drawn).toMatchObject({ exitCode: 0, output: expect.stringContaining(ESCAPE) });
    expect(drawn.shown.trim()).toMatch(/\nadded 1 package in \w+$/);
    expect(drawn.shown).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
    const piped = await run(box, NPM, { timeoutMs: 60_000 });
    expect(piped).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^npm: this sandbox has no network.*\n$/),
    });
    expect(piped.stdout).toMatch(/^\nadded 1 package in \w+\n$/);
  });

  it('of pytest has colours on a terminal, and the same lines without them in a pipe', async () => {
    const drawn = await onTerminal(PYTEST);
    expect(drawn).toMatchObject({ exitCode: 1, output: expect.stringContaining(ESCAPE) });
    expect(drawn.output).toMatch(/\[ {1,2}\d+%\]/);
    expect(drawn.shown).toMatch(/=+ 1 failed, 160 passed in [\d.]+s =+/);
    const piped = await run(box, PYTEST, { timeoutMs: 60_000 });
    expect(piped).toMatchObject({ exitCode: 1, stderr: '' });
    expect(piped.stdout).not.toContain(ESCAPE);
    expect(piped.stdout).toMatch(/^test_many\.py \.{50,}.*\[ {1,2}\d+%\]$/m);
    expect(piped.stdout).toMatch(/\.F +\[100%\]$/m);
    expect(piped.stdout).toMatch(/=+ 1 failed, 160 passed in [\d.]+s =+\n$/);
  });
});
