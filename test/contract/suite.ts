import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SHARED_IMAGE, sharedDockerHost } from '../docker/shared-daemon.ts';
import { PROTOCOLS, type Protocol } from './client.ts';
import { Scene } from './scene.ts';
import { type Sections, Server, State } from './server.ts';

/** The runtimes where commands run for real, on the workspace and its rules; their columns share the protocols of a case. */
export const REAL: readonly string[] = ['docker', 'bwrap'];

/** Every column of the conformance table. */
export const EVERY: readonly string[] = [...REAL, 'mock'];

export interface Case {
  name: string;
  /** Absent: `REAL`. */
  runtimes?: readonly string[];
  /** Absent: both, in the columns together; see `protocolsOf`. */
  protocols?: readonly Protocol[];
  /** Absent: the suite's own. */
  timeoutMs?: number;
  /** Whether it creates sandboxes, which codebases on trees have not yet. */
  hasSandboxes?: boolean;
  run(scene: Scene): Promise<void>;
}

/** One list of cases over the runtimes and protocols; one server for each runtime, which must end clean. */
export function contract(topic: string, cases: readonly Case[], config: Sections = {}): void {
  for (const runtime of EVERY) {
    const possible = cases
      .map((each, index) => ({ ...each, protocols: protocolsOf(each, runtime, index) }))
      .filter(({ runtimes = REAL }) => runtimes.includes(runtime));
    if (possible.length > 0) describe(`${topic} on ${runtime}`, () => column(runtime, possible, config));
  }
}

/** As `contract`; those without sandboxes on codebases of the other format, too, where the runtime makes no difference. */
export function onBothFormats(topic: string, cases: readonly Case[], config: Sections = {}): void {
  contract(topic, cases, config);
  const without = cases.filter(({ hasSandboxes }) => !hasSandboxes);
  const storage = { ...config.storage, codebase_format: 'tree' };
  contract(`${topic}, on trees`, everywhere(without, { runtimes: ['mock'] }), { ...config, storage });
}

/** The cases, on every runtime where they name none. */
export const everywhere = (cases: readonly Case[], more: Partial<Case> = {}): Case[] =>
  cases.map((each) => ({ runtimes: EVERY, ...each, ...more }));

/**
 * No adapter knows a runtime and no runtime a protocol. A case that runs on bwrap and on docker therefore runs over one
 * protocol on bwrap and over the other one on docker; `index` decides which. PADDOCK_CONTRACT=full: every case over both
 * on each runtime.
 */
function protocolsOf({ protocols, runtimes = REAL }: Case, runtime: string, index: number): readonly Protocol[] {
  if (protocols !== undefined) return protocols;
  const onBoth = REAL.every((name) => runtimes.includes(name));
  if (!onBoth || !REAL.includes(runtime) || process.env.PADDOCK_CONTRACT === 'full') return PROTOCOLS;
  return [PROTOCOLS[(index + REAL.indexOf(runtime)) % PROTOCOLS.length]!];
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
