import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SHARED_IMAGE, sharedDockerHost } from '../docker/shared-daemon.ts';
import { PROTOCOLS, type Protocol } from './client.ts';
import { Scene } from './scene.ts';
import { type Sections, Server, State } from './server.ts';

/** What a case asks of a runtime: commands run for real, on the workspace and its rules. */
type Need = 'commands';

/** Every column of the conformance table. A runtime that cannot do what a case needs has no such row. */
const RUNTIMES: readonly { name: string; can: readonly Need[] }[] = [
  { name: 'bwrap', can: ['commands'] },
  { name: 'docker', can: ['commands'] },
  { name: 'mock', can: [] },
];

/** The runtimes whose columns share the protocols of a case. */
const PAIR = ['docker', 'bwrap'];

export interface Case {
  name: string;
  needs?: readonly Need[];
  /** Absent: all that can. */
  runtimes?: readonly string[];
  /** Absent: both, in the columns together; see `protocolsOf`. */
  protocols?: readonly Protocol[];
  /** Absent: the suite's own. */
  timeoutMs?: number;
  run(scene: Scene): Promise<void>;
}

/** One list of cases over the runtimes and protocols; one server for each runtime, which must end clean. */
export function contract(topic: string, cases: readonly Case[], config: Sections = {}): void {
  for (const runtime of RUNTIMES) {
    const possible = cases
      .map((each, index) => ({ ...each, protocols: protocolsOf(each, runtime.name, index) }))
      .filter(
        ({ needs = [], runtimes }) =>
          needs.every((need) => runtime.can.includes(need)) && (runtimes?.includes(runtime.name) ?? true),
      );
    if (possible.length > 0) describe(`${topic} on ${runtime.name}`, () => column(runtime.name, possible, config));
  }
}

/**
 * No adapter knows a runtime and no runtime a protocol. A case that runs on bwrap and on docker therefore runs over one
 * protocol on bwrap and over the other one on docker; `index` decides which. PADDOCK_CONTRACT=full: every case over both
 * on each runtime.
 */
function protocolsOf({ protocols, runtimes }: Case, runtime: string, index: number): readonly Protocol[] {
  if (protocols !== undefined) return protocols;
  const onBoth = PAIR.every((name) => runtimes?.includes(name) ?? true);
  if (!onBoth || !PAIR.includes(runtime) || process.env.PADDOCK_CONTRACT === 'full') return PROTOCOLS;
  return [PROTOCOLS[(index + PAIR.indexOf(runtime)) % PROTOCOLS.length]!];
}

function column(
  runtime: string,
  cases: readonly (Case & { protocols: readonly Protocol[] })[],
  config: Sections,
): void {
  let state: State;
  let server: Server;
  let scene: Scene;

  beforeAll(async () => {
    state = await State.create();
    const docker = runtime === 'docker' && { docker: { host: await sharedDockerHost(), default_image: SHARED_IMAGE } };
    server = await Server.start(state, { runtime, config: { ...config, runtime: { ...docker, ...config.runtime } } });
  });

  afterAll(async () => {
    const code = await server?.stop();
    const warnings = server?.log.filter((line) => /^\(node:\d+\)/.test(line));
    const left = await state?.leftovers();
    await state?.remove();
    expect({ code, left, warnings }).toEqual({ code: 0, left: [], warnings: [] });
  });

  for (const protocol of PROTOCOLS) {
    const own = cases.filter(({ protocols }) => protocols.includes(protocol));
    if (own.length === 0) continue;
    describe(protocol, () => {
      beforeEach(() => {
        scene = new Scene(server, state, runtime, protocol);
      });
      afterEach(() => scene.close());
      for (const { name, run, timeoutMs } of own) {
        it(name, timeoutMs === undefined ? {} : { timeout: timeoutMs }, () => run(scene));
      }
    });
  }
}
