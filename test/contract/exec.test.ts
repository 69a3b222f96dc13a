import { expect } from 'vitest';
import { atTimeout } from '../at-timeout.ts';
import { eventually, expectRefusal } from './scene.ts';
import { CANARY } from './server.ts';
import { sleepers } from './sleepers.ts';
import { type Case, contract, everywhere } from './suite.ts';

const MIB = 1024 * 1024;
const FIXED_ENVIRONMENT = [
  'CI',
  'DEBIAN_FRONTEND',
  'JDK_JAVA_OPTIONS',
  'GIT_PAGER',
  'GIT_TERMINAL_PROMPT',
  'PAGER',
  'PIP_DISABLE_PIP_VERSION_CHECK',
  'PIP_NO_INDEX',
  'PIP_NO_INPUT',
  'npm_config_audit',
  'npm_config_fetch_retries',
  'npm_config_offline',
  'npm_config_update_notifier',
  'HOME',
  'LANG',
  'LC_ALL',
  'LOGNAME',
  'OLDPWD',
  'PATH',
  'PWD',
  'SHELL',
  'SHLVL',
  'TERM',
  'TMPDIR',
  'USER',
  '_',
];

const commands: Case[] = [
  {
    name: 'returns stdout, stderr, the exit code and the duration',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const answer = await scene.run(sandbox, 'echo out; echo err >&2; exit 7');
      expect(answer).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exit_code: 7, duration_ms: expect.any(Number) });
      expect(answer.duration_ms).toBeGreaterThanOrEqual(0);
    },
  },
  {
    name: 'runs in /workspace, where the codebase is',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'src/a.txt': 'hello' });
      expect(await scene.output(sandbox, 'pwd; cat src/a.txt')).toBe('/workspace\nhello');
    },
  },
  {
    name: 'resolves a relative workdir from /workspace and keeps an absolute one',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'src/a.txt': 'hello' });
      expect(await scene.output(sandbox, 'pwd; cat a.txt', { workdir: 'src' })).toBe('/workspace/src\nhello');
      expect(await scene.output(sandbox, 'pwd', { workdir: '/tmp' })).toBe('/tmp\n');
    },
  },
  {
    name: 'refuses a workdir that cannot be entered',
    async run(scene) {
      const sandbox = await scene.sandboxOn({ 'a.txt': '' });
      for (const workdir of ['absent', 'a.txt', '/nowhere/at/all']) {
        await expectRefusal(scene.run(sandbox, 'true', { workdir }), 'INVALID_ARGUMENT', 'workdir');
      }
    },
  },
  {
    name: 'passes env values unchanged, with any characters',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const env = { PLAIN: 'x', QUOTED: `a'b"c $HOME \`id\` $(id) \\`, LINES: 'one\ntwo\n', EMPTY: '', ACCENT: 'é' };
      const command = `printf '%s|' "$PLAIN" "$QUOTED" "$LINES" "\${EMPTY-unset}" "$ACCENT"`;
      expect(await scene.output(sandbox, command, { env })).toBe(`x|${env.QUOTED}|one\ntwo\n||é|`);
    },
  },
  {
    name: "shows a small fixed environment, never the server's",
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const lines = (await scene.output(sandbox, 'env')).trim().split('\n');
      const unexpected = lines.filter((line) => !FIXED_ENVIRONMENT.includes(line.split('=')[0] ?? ''));
      expect(unexpected).toEqual([]);
      expect(lines.some((line) => line.startsWith('PATH=') && line.includes('/usr/bin'))).toBe(true);
      const everyEnvironment = 'for each in /proc/[0-9]*/environ; do cat "$each" 2>/dev/null; done; true';
      expect(await scene.output(sandbox, everyEnvironment)).not.toContain(CANARY);
    },
  },
  {
    name: 'does not leak one command’s env into the next',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      await scene.run(sandbox, 'export LATER=1', { env: { ONCE: 'x' } });
      expect(await scene.output(sandbox, 'echo "[$ONCE] [$LATER]"')).toBe('[] []\n');
    },
  },
  {
    name: 'takes shell, env and workdir of the sandbox where the request has none, also in sessions and processes',
    async run(scene) {
      const own = { shell: 'bash', env: { A: 'own', B: 'own' }, workdir: 'src' };
      const sandbox = await scene.sandboxOn({ 'src/a.txt': '' }, undefined, own);
      const { id: sandbox_id } = sandbox;
      expect(sandbox).toMatchObject(own);
      const shown = '[[ x == x ]] && echo "$A $B $PWD"';
      expect(await scene.output(sandbox, shown, { env: { B: 'asked' } })).toBe('own asked /workspace/src\n');
      const sh = await scene.run(sandbox, `${shown}; pwd`, { shell: 'sh', workdir: '/tmp' });
      expect(sh).toMatchObject({ stdout: '/tmp\n', stderr: expect.stringContaining('not found') });
      const { id: session_id, shell } = await scene.client.call('CreateSession', { sandbox_id, env: { A: 'asked' } });
      expect(shell).toMatch(/\/bash$/);
      const inSession = await scene.client.call('SessionExec', { session_id, command: shown });
      expect(inSession.stdout).toBe('asked own /workspace/src\n');
      await scene.client.call('StartProcess', { sandbox_id, process_id: 'p', command: shown });
      const read = { sandbox_id, process_id: 'p', wait: 20_000 };
      const { output } = await scene.client.call('ReadProcessOutput', read);
      const data = output.map((each) => Buffer.from(each.data as never, 'base64' as never).toString()).join('');
      expect(data).toBe('own own /workspace/src\n');
      const none = { sandbox_id, env: { A: 'new' }, remove_env: ['B'], shell: '', workdir: '' };
      expect(await scene.client.call('UpdateSandbox', none)).toMatchObject({
        env: { A: 'new' },
        shell: '',
        workdir: '',
      });
      expect(await scene.output(sandbox, 'echo "$A [$B] $PWD"')).toBe('new [] /workspace\n');
      await scene.client.call('UpdateSandbox', { sandbox_id, workdir: 'gone' });
      await expectRefusal(scene.run(sandbox, 'true'), 'FAILED_PRECONDITION', 'the sandbox’s workdir "gone"');
      await expectRefusal(scene.run(sandbox, 'true', { shell: 'noshell' }), 'FAILED_PRECONDITION', '"noshell"');
      await expectRefusal(scene.run(sandbox, 'true', { shell: 'a b' }), 'INVALID_ARGUMENT', 'shell');
    },
  },
  {
    name: 'keeps the beginning and the end with max_output, and has one ordered stream with merge',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const { id: session_id } = await scene.client.call('CreateSession', { sandbox_id: sandbox.id });
      const command = 'echo first; seq 20000; echo error >&2; echo last';
      const session = { session_id, command, timeout: 60 };
      const calls = (more: object) => [
        scene.run(sandbox, command, more),
        scene.run(sandbox, command, { ...more, yield_after: 20_000 }),
        scene.client.call('SessionExec', { ...session, ...more }),
      ];
      for (const answer of await Promise.all(calls({ max_output: 1000 }))) {
        expect(answer.stdout).toMatch(/^first\n1\n2\n.*\n\[\d+ bytes left out\]\n.*\n20000\nlast\n$/s);
        expect(answer).toMatchObject({
          stderr: 'error\n',
          stdout_dropped_bytes: 108_905 - 994,
          output_truncated: true,
        });
      }
      for (const answer of await Promise.all(calls({ merge: true, max_output: 200 }))) {
        expect(answer.output).toMatch(/^first\n.*\n\[\d+ bytes left out\]\n.*\n20000\nerror\nlast\n$/s);
        expect(answer).toMatchObject({ stdout: '', stderr: '', output_dropped_bytes: 108_911 - 200 });
      }
      const ordered = 'for i in 1 2 3; do echo out$i; echo err$i >&2; done; sleep 30';
      const late = await atTimeout(
        (timeout) => expectRefusal(scene.run(sandbox, ordered, { merge: true, timeout }), 'DEADLINE_EXCEEDED'),
        ({ details }) => JSON.stringify(details).includes('err3'),
      );
      expect(late.message).toMatch(
        /details; if it waited for a network, the sandbox has none; a longer command takes .*, or is started as a process$/,
      );
      expect(late.details).toEqual([{ output: 'out1\nerr1\nout2\nerr2\nout3\nerr3\n' }]);
      const seen: string[] = [];
      for await (const { data, stream } of scene.client.watch('ExecStream', {
        sandbox_id: sandbox.id,
        command,
        merge: true,
      })) {
        seen.push(stream, Buffer.from(data).toString());
      }
      expect(seen).not.toContain('STDERR');
      expect(seen.join('')).toContain('error');
      await expectRefusal(scene.run(sandbox, 'true', { max_output: -1 }), 'INVALID_ARGUMENT', 'max_output');
    },
  },
  {
    name: 'tells what is not there in one sentence, and commits as the agent of the sandbox',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const sudo = await scene.run(sandbox, 'sudo ls');
      expect(sudo).toMatchObject({
        exit_code: 1,
        stderr: expect.stringMatching(/^sudo: this sandbox has no root user: /),
      });
      const apt = await scene.run(sandbox, '[ ! -x /usr/bin/apt-get ] || apt-get install jq || echo $?');
      expect([':', '100:packages cannot be installed']).toContain(
        `${apt.stdout.trim()}:${/packages cannot be installed/.exec(apt.stderr)?.[0] ?? ''}`,
      );
      const repository = 'git init -q . && git commit -q --allow-empty -m a && git log --format="%an %ae"';
      const author = `agent agent@${sandbox.id}\n`;
      expect(await scene.output(sandbox, `command -v git >/dev/null || exit 0; ${repository}`)).toMatch(
        scene.runtime === 'bwrap' ? author : new RegExp(`^(${author})?$`),
      );
    },
  },
  {
    name: 'runs as an unprivileged user without capabilities',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      expect(Number(await scene.output(sandbox, 'id -u'))).toBeGreaterThan(0);
      const status = await scene.output(sandbox, 'grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status');
      expect(status.replaceAll('\t', ' ')).toBe(
        'CapEff: 0000000000000000\nCapBnd: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n',
      );
    },
  },
  {
    name: 'runs the command with /bin/sh -c',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const script = 'x=1\nif [ $x = 1 ]; then\n  echo "yes" | tr a-z A-Z\nfi; echo "$0"';
      expect(await scene.output(sandbox, script)).toMatch(/^YES\n.*sh\n$/);
    },
  },
  {
    name: 'passes stdin to the command, followed by end of file',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      expect(await scene.output(sandbox, 'cat; echo end', { stdin: 'one\ntwo' })).toBe('one\ntwoend\n');
      expect(await scene.output(sandbox, 'cat; echo end')).toBe('end\n');
    },
  },
  {
    name: 'accepts a stdin of 3 MiB, also if the command does not read it',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const stdin = 'é'.repeat((3 * MIB) / 2);
      expect(await scene.output(sandbox, 'wc -c', { stdin })).toBe(`${3 * MIB}\n`);
      expect((await scene.run(sandbox, 'true', { stdin })).exit_code).toBe(0);
      expect((await scene.output(sandbox, 'cat', { stdin })) === stdin).toBe(true);
    },
  },
  {
    name: 'reports every exit code as a result',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      for (const code of [0, 1, 2, 126, 127, 128, 200, 255]) {
        expect((await scene.run(sandbox, `exit ${code}`)).exit_code).toBe(code);
      }
      expect((await scene.run(sandbox, 'no-such-program')).exit_code).toBe(127);
    },
  },
  {
    name: 'reports 128+N for a command killed by signal N',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      for (const [signal, number] of Object.entries({ HUP: 1, INT: 2, ABRT: 6, KILL: 9, SEGV: 11, TERM: 15 })) {
        expect((await scene.run(sandbox, `kill -${signal} $$`)).exit_code).toBe(128 + number);
      }
    },
  },
  {
    name: 'kills a command at its timeout and returns its output so far',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const command = 'echo partial; echo warning >&2; sleep 60';
      const error = await atTimeout(
        (timeout) => expectRefusal(scene.run(sandbox, command, { timeout }), 'DEADLINE_EXCEEDED'),
        ({ details }) => JSON.stringify(details).includes('warning'),
      );
      expect(error.details).toContainEqual({ stdout: 'partial\n', stderr: 'warning\n' });
    },
  },
  {
    name: 'ends all processes of a timed-out command, and no others',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      await scene.run(sandbox, 'sleep 7001 >/dev/null 2>&1 &');
      const command = "trap '' TERM; setsid sleep 7002 & (sleep 7002 &) ; sleep 7002";
      await expectRefusal(scene.run(sandbox, command, { timeout: 1 }), 'DEADLINE_EXCEEDED');
      await eventually('the end of every sleep 7002', async () => (await scene.output(sandbox, sleepers(7002))) === '');
      expect(await scene.output(sandbox, sleepers(7001))).not.toBe('');
    },
  },
  {
    name: 'keeps background processes and /tmp between commands',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      await scene.run(
        sandbox,
        '(while [ ! -e /tmp/go ]; do sleep 0.02; done; echo gone > /tmp/went) >/dev/null 2>&1 &',
      );
      await scene.output(sandbox, 'touch /tmp/go');
      await eventually(
        'the background process at work',
        async () => (await scene.output(sandbox, 'cat /tmp/went 2>/dev/null || true')) === 'gone\n',
      );
    },
  },
  {
    name: 'does not wait for a background child that keeps stdout open',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const answer = await scene.run(sandbox, 'sleep 7003 & echo started');
      expect(answer).toMatchObject({ stdout: 'started\n', exit_code: 0 });
    },
  },
  {
    name: 'returns bytes that are not UTF-8 as U+FFFD',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      expect(await scene.output(sandbox, "printf '\\377a\\360\\237\\230\\200z'")).toBe('\uFFFDa😀z');
    },
  },
  {
    name: 'truncates output at 8 MiB per stream with a notice, and lets the command continue',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const command = 'head -c 9000000 /dev/zero | tr "\\0" x; echo went on >&2; exit 3';
      const { stdout, stderr, exit_code } = await scene.run(sandbox, command);
      expect(stdout.length).toBeLessThan(8 * MIB + 200);
      expect(stdout.slice(0, 8 * MIB) === 'x'.repeat(8 * MIB)).toBe(true);
      expect(stdout.slice(8 * MIB)).toMatch(/cut/);
      expect({ stderr, exit_code }).toEqual({ stderr: 'went on\n', exit_code: 3 });
    },
  },
  {
    name: 'returns an output of exactly 8 MiB completely',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const { stdout } = await scene.run(sandbox, `head -c ${8 * MIB} /dev/zero | tr "\\0" x`);
      expect(stdout === 'x'.repeat(8 * MIB)).toBe(true);
    },
  },
  {
    name: 'returns to each of many concurrent commands its own output',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const numbers = Array.from({ length: 40 }, (_, index) => index);
      const answers = await Promise.all(numbers.map((each) => scene.run(sandbox, `echo ${each}; exit ${each}`)));
      expect(answers.map(({ stdout, exit_code }) => [stdout, exit_code])).toEqual(
        numbers.map((each) => [`${each}\n`, each]),
      );
    },
  },
  {
    name: 'kills a command whose client disconnected',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const abort = new AbortController();
      const call = scene.client.call('Exec', { sandbox_id: sandbox.id, command: 'sleep 7004' }, abort.signal);
      const ended = call.catch(() => 'cancelled');
      await eventually('the command at work', async () => await scene.output(sandbox, sleepers(7004)));
      abort.abort();
      expect(await ended).toBe('cancelled');
      await eventually('the end of the command', async () => (await scene.output(sandbox, sleepers(7004))) === '');
    },
  },
  {
    name: 'has no network, not even to the host',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      const [host, port] = ['127.0.0.1', scene.server.httpAddress.split(':').at(-1)];
      const connect = `import socket; socket.create_connection(('${host}', ${port}), 2)`;
      const answer = await scene.run(sandbox, `python3 -c "${connect}"`);
      expect(answer.exit_code).toBe(1);
      expect(answer.stderr).toMatch(/Connection refused|unreachable/);
    },
  },
];

const arguments_: Case[] = [
  {
    name: 'refuses a negative timeout and one above the maximum, which the error names',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      await expectRefusal(scene.run(sandbox, 'true', { timeout: 601 }), 'INVALID_ARGUMENT', /timeout.*\b(600|10m)\b/);
      await expectRefusal(scene.run(sandbox, 'true', { timeout: -1 }), 'INVALID_ARGUMENT', 'timeout');
    },
  },
  {
    name: 'refuses an empty command, a NUL and an env name with =',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      await expectRefusal(scene.run(sandbox, ''), 'INVALID_ARGUMENT', 'command');
      await expectRefusal(scene.run(sandbox, 'a\0b'), 'INVALID_ARGUMENT', 'command');
      await expectRefusal(scene.run(sandbox, 'true', { env: { 'A=B': 'x' } }), 'INVALID_ARGUMENT', 'env');
      await expectRefusal(scene.run(sandbox, 'true', { workdir: 'a\0b' }), 'INVALID_ARGUMENT', 'workdir');
    },
  },
];

contract('Exec', [...commands, ...everywhere(arguments_)]);
