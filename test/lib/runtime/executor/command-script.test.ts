import { describe, expect, it } from 'vitest';
import { commandScript, resolveWorkdir } from '../../../../lib/runtime/executor/command-script.ts';
import { scriptText } from '../../../../lib/runtime/executor/script-part.ts';

const N = '0123456789abcdef';
const request = { command: 'true', env: {}, workdir: '' };

function script(
  asked: Parameters<typeof commandScript>[1],
  stdinName?: string,
): { text: string; reportsStart: boolean } {
  const { parts, reportsStart } = commandScript(N, asked, { stdin: stdinName });
  return { text: scriptText(parts), reportsStart };
}

describe('commandScript', () => {
  it('is one subshell and one status line', () => {
    expect(script(request)).toEqual({
      text: `n=${N}; (exec /bin/sh -c 'true' >&7 2>&8 7>&- 8>&- 9>&-); echo "$n x $?" >&9\n`,
      reportsStart: false,
    });
  });

  it('reports the start if the server waits for it', () => {
    expect(script(request, 'f.in')).toEqual({
      text: `n=${N}; (echo '${N} s 0' >&9; exec /bin/sh -c 'true' >&7 2>&8 7>&- 8>&- 9>&-) </run/agent/f.in; echo "$n x $?" >&9\n`,
      reportsStart: true,
    });
    const { text, reportsStart } = script({ ...request, workdir: "a'b" });
    expect(text).toContain(`if cd -- '/workspace/a'\\''b' 2>/dev/null; then unset OLDPWD; echo '${N} s 0' >&9;`);
    expect(text).toContain(`else echo '${N} w 0' >&9; fi)`);
    expect(reportsStart).toBe(true);
  });

  it('assigns plain variables, and passes variables that shells reserve by env(1)', () => {
    const { text } = script({ ...request, env: { A: "x'y", UID: '1', LC_ALL: 'C', PATH: '/p' } });
    expect(text).toContain(`(A='x'\\''y' PATH='/p' exec /usr/bin/env UID='1' LC_ALL='C' /bin/sh -c 'true' >&7`);
  });

  it('finds another shell before it reports the start', () => {
    const { text, reportsStart } = script({ ...request, shell: 'bash' });
    expect(text).toContain(`|| { echo '${N} e 0' >&9; exit; }; echo '${N} s 0' >&9; exec "$s" -c 'true' >&7 2>&8`);
    expect(reportsStart).toBe(true);
    for (const shell of ['', 'sh', '/bin/sh']) expect(script({ ...request, shell })).toEqual(script(request));
  });

  it('has one pipe for both streams with merge', () => {
    expect(script({ ...request, merge: true }).text).toContain(`exec /bin/sh -c 'true' >&7 2>&7 7>&- 8>&- 9>&-)`);
  });

  it('never passes request text unquoted', () => {
    const evil = `'; touch /tmp/x; echo "$(id)\n`;
    for (const argv of [undefined, [evil, evil], [`-${evil}`], [`=${evil}`]]) {
      for (const env of [{ A: evil }, { IFS: evil }]) {
        const { text } = script({ command: evil, shell: evil, ...(argv && { argv }), env, workdir: evil });
        const outside = text.replaceAll("'\\''", '').replaceAll(/'[^']*'/g, '');
        expect(outside).not.toMatch(/touch|id|\n./);
      }
    }
  });
});

describe('resolveWorkdir', () => {
  it.each([
    ['', ''],
    ['.', ''],
    ['/workspace', ''],
    ['src', '/workspace/src'],
    ['../etc', '/workspace/../etc'],
    ['/tmp', '/tmp'],
    ['-', '/workspace/-'],
  ])('resolves %j to %j', (workdir, resolved) => {
    expect(resolveWorkdir(workdir)).toBe(resolved);
  });
});
