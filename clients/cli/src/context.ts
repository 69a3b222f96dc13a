import { Paddock } from '../../typescript/src/paddock.ts';
import type { Context } from './command.ts';
import { type Connection, connectionOf } from './connection.ts';
import { Output } from './output.ts';
import { Signals } from './signals.ts';

interface Given {
  url?: string | undefined;
  json?: boolean | undefined;
}

export function contextOf(globals: Given, { env, commands }: Pick<Context, 'env' | 'commands'>): Context {
  const signals = new Signals();
  const { stdout, stderr } = process;
  let paddock: Promise<Paddock> | undefined;
  const connection = () => connectionOf(globals.url, env);
  return {
    out: new Output({ stdout, stderr, env }, { json: globals.json ?? false }),
    env,
    signals,
    signal: signals.abort,
    commands,
    connection,
    paddock: () => {
      paddock ??= connect(connection());
      return paddock;
    },
  };
}

async function connect({ url, key }: Connection): Promise<Paddock> {
  return new Paddock({ url, key });
}
