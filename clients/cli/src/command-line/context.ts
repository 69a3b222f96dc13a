import type { Paddock } from 'paddock-sandbox';
import { sandboxOf } from '../names/sandboxes.ts';
import { Output } from '../output/output.ts';
import { connect } from '../server/connect.ts';
import { connectionOf } from '../server/connection.ts';
import type { Context } from './command.ts';
import { Signals } from './signals.ts';

interface Given {
  url?: string | undefined;
  json?: boolean | undefined;
}

export function contextOf(globals: Given, env: Context['env']): Context {
  const signals = new Signals();
  const { stdout, stderr } = process;
  let paddock: Promise<Paddock> | undefined;
  const out = new Output({ stdout, stderr, env }, { json: globals.json ?? false });
  const connection = () => connectionOf(globals.url, env);
  const server = ({ start } = { start: false }) => {
    paddock ??= connect(connection(), { env, out, signal: signals.abort, start });
    return paddock;
  };
  return {
    out,
    env,
    signals,
    signal: signals.abort,
    call: { signal: signals.abort },
    connection,
    paddock: server,
    sandbox: async (given) => sandboxOf(await server(), given, { signal: signals.abort }),
  };
}
