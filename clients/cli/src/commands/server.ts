import { command } from '../command-line/command.ts';
import { localDirectory, readLocal } from '../local/record.ts';
import { startLocal } from '../local/start.ts';
import { stopLocal } from '../local/stop.ts';

export const start = command({
  summary: 'start a local server in the background, as "run" and "create" do if none is configured',
  details: `It listens on a free port of the loopback interface, and needs a key that only its user can read. Its state is
in /var/lib/paddock-local (root) or ~/.local/state/paddock-local, or in the directory that PADDOCK_LOCAL_STATE names.`,
  operands: {},
  options: {},
  examples: ['paddock server start'],
  async run({ out, env, signal }) {
    const { pid, url } = await startLocal(localDirectory(env), { env, signal });
    out.result({ pid, url }, () => `${url} (process ${pid})`);
  },
});

export const stop = command({
  summary: 'end the local server; its state stays',
  operands: {},
  options: {},
  examples: ['paddock server stop'],
  async run({ out, env, signal }) {
    const stopped = await stopLocal(localDirectory(env), signal);
    out.result({ stopped }, () => (stopped ? 'stopped' : 'no local server runs'));
  },
});

export const status = command({
  summary: 'say whether the local server runs; the exit code is 1 if not',
  operands: {},
  options: {},
  examples: ['paddock server status'],
  async run({ out, env }) {
    const directory = localDirectory(env);
    const server = readLocal(directory);
    const shown = { running: server !== undefined, directory, url: server?.url, pid: server?.pid };
    out.result(shown, () =>
      server ? `${server.url} (process ${server.pid}, state in ${directory})` : 'no local server runs',
    );
    return server ? 0 : 1;
  },
});

export const env = command({
  summary: 'print PADDOCK_URL and PADDOCK_KEY of the local server, for "eval"; starts it if it does not run',
  details: 'Programs with these variables may do everything that the server can.',
  operands: {},
  options: {},
  examples: ['eval "$(paddock server env)" && node my-agent.mjs'],
  async run(context) {
    const { url, key } = await startLocal(localDirectory(context.env), context);
    context.out.result({ url, key }, () => `export PADDOCK_URL='${url}' PADDOCK_KEY='${key}'`);
  },
});
