import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';
import { bundleEntry } from '../fuse/bundle-entry.ts';
import { type Mounted, mounted } from '../fuse/mounted.ts';
import { ERRNOS, type ErrnoName } from '../runtime/faults/host-calls.ts';
import { ALL_WRITE, UID } from './sandbox.ts';
import { WorkerFaults } from './worker-faults.ts';

/** Size of contents above the limit of slabs. */
const LARGE = 'large '.repeat(12_000);
/** More than the number of attempts of one case. */
const BASE_FILES = 100;

/** Runs lines of JavaScript in a directory, as the sandbox's user: the tests' own process must not touch the mount. */
class Program {
  readonly #child: ChildProcess;
  readonly #answers: Interface;

  constructor(workspace: string, uid: number) {
    const script = `
      const fs = require('node:fs');
      const write = (path, content) => {
        const fd = fs.openSync(path, 'w');
        try { fs.writeSync(fd, content); fs.fsyncSync(fd); } finally { fs.closeSync(fd); }
      };
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        let answer;
        try {
          process.chdir(${JSON.stringify(workspace)});
          answer = ['ok', String(new Function('fs', 'write', 'LARGE', JSON.parse(line))(fs, write, ${JSON.stringify(LARGE)}))];
        } catch (error) { answer = [error.code ?? String(error), '']; }
        process.chdir('/');
        console.log(JSON.stringify(answer));
      });`;
    const child = spawn(process.execPath, ['-e', script], {
      ...{ cwd: '/', uid, gid: uid },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child = child;
    this.#answers = createInterface({ input: child.stdout });
  }

  /** Returns 'ok' or the errno, and the value. */
  async run(code: string): Promise<[outcome: string, value: string]> {
    const answer = once(this.#answers, 'line', { signal: AbortSignal.timeout(30_000) });
    this.#child.stdin?.write(`${JSON.stringify(code)}\n`);
    return JSON.parse(String((await answer)[0]));
  }

  async end(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}

let bundle: Awaited<ReturnType<typeof bundleEntry>>;
let faults: WorkerFaults;
let mount: Mounted;
let home: string;
let failing: WorkspaceSpec;
let program: Program;
let beside: Program;
let dead = '';

beforeAll(async () => {
  bundle = await bundleEntry('../workspaces/failing-entry.ts');
  faults = WorkerFaults.inMemory();
  home = mkdtempSync(join(tmpdir(), 'workspace-faults-'));
  mkdirSync(join(home, 'base'));
  for (let n = 0; n < BASE_FILES; n++) {
    writeFileSync(join(home, 'base', `large-${n}`), LARGE);
    writeFileSync(join(home, 'base', `small-${n}`), 'small');
    mkdirSync(join(home, 'base', `seen-${n}`));
    writeFileSync(join(home, 'base', `seen-${n}/file`), 'seen');
  }
  mount = await mounted(bundle.entry);
  chmodSync(dirname(mount.mountPoint), 0o711);
  void mount.workspaces.exited.then(({ reason }) => (dead = reason));
  const spec = (id: string, uid: number): WorkspaceSpec => ({
    ...{ id, codebaseId: 'cb', base: join(home, 'base'), delta: join(home, id), layers: join(home, 'layers') },
    ...{ uid, rules: ALL_WRITE, maxBytes: 0, maxFiles: 0 },
  });
  failing = spec('sb_1', UID);
  program = new Program(await mount.workspaces.attach(failing), UID);
  beside = new Program(await mount.workspaces.attach(spec('sb_2', UID + 1)), UID + 1);
  expect(await beside.run("write('kept', 'kept')")).toEqual(['ok', 'undefined']);
});
afterAll(async () => {
  faults.disarm();
  await program.end();
  await beside.end();
  await mount.remove();
  await bundle.remove();
  rmSync(home, { recursive: true });
});

interface Case {
  /** In the expressions, N is the number of the attempt. */
  prepare?: string;
  act: string;
  /** An expression for the acknowledged state. */
  read: string;
  gives: string;
}

const CASES: Record<string, Case> = {
  'a new file': { act: "write('new-N', 'new N')", read: "fs.readFileSync('new-N')", gives: 'new N' },
  'a new large file': { act: "write('long-N', LARGE)", read: "fs.readFileSync('long-N')", gives: LARGE },
  'the change of a small file of the base': {
    act: "fs.appendFileSync('small-N', '', { flag: 'r+' }); write('small-N', 'mine N')",
    read: "fs.readFileSync('small-N')",
    gives: 'mine N',
  },
  'the change of a large file of the base': {
    act: "const fd = fs.openSync('large-N', 'r+'); try { fs.writeSync(fd, 'LARGE', 0); fs.fsyncSync(fd) } finally { fs.closeSync(fd) }",
    read: "fs.readFileSync('large-N')",
    gives: LARGE.replace('large', 'LARGE'),
  },
  'a shortening': {
    prepare: "write('cut-N', LARGE)",
    act: "fs.truncateSync('cut-N', 5)",
    read: "fs.readFileSync('cut-N')",
    gives: 'large',
  },
  'a directory and a rename': {
    prepare: "write('from-N', 'moved')",
    act: "if (!fs.existsSync('dir-N')) fs.mkdirSync('dir-N'); if (fs.existsSync('from-N')) fs.renameSync('from-N', 'dir-N/to')",
    read: "fs.readFileSync('dir-N/to')",
    gives: 'moved',
  },
  'links and a removal': {
    prepare: "write('gone-N', 'linked')",
    act: `
      if (!fs.existsSync('hard-N')) fs.linkSync('gone-N', 'hard-N');
      fs.rmSync('soft-N', { force: true }); fs.symlinkSync('hard-N', 'soft-N');
      fs.rmSync('gone-N', { force: true })`,
    read: "fs.readFileSync('soft-N') + fs.existsSync('gone-N')",
    gives: 'linkedfalse',
  },
  'a look at files and at the room': {
    act: "fs.readFileSync('seen-N/file'); fs.readdirSync('seen-N'); fs.statfsSync('.')",
    read: "fs.readFileSync('seen-N/file')",
    gives: 'seen',
  },
};

/** All errnos at the first calls; at later calls they alternate, to limit the time. */
const errnosAt = (nth: number): readonly ErrnoName[] =>
  nth <= 4 ? ERRNOS : [nth, nth + 3].map((index) => ERRNOS[index % ERRNOS.length]!);

const numbered = (code: string, n: number) => code.replaceAll(/\bN\b/g, String(n)).replaceAll('-N', `-${n}`);

describe('a failed host call of the request worker', () => {
  it.each(Object.entries(CASES))(
    'in %s fails that request only, and loses nothing acknowledged',
    async (_, { prepare, act, read, gives }) => {
      let attempt = 0;
      const begin = async () => {
        if (prepare) expect(await program.run(numbered(prepare, attempt))).toEqual(['ok', 'undefined']);
      };
      const acts = () => program.run(numbered(act, attempt));
      const given = (n: number) => numbered(gives, n);
      await begin();
      faults.arm('files', 1e9, 'EIO');
      expect((await acts())[0]).toBe('ok');
      const calls = faults.count;
      faults.disarm();
      for (let nth = 1; nth <= calls; nth++) {
        for (const errno of errnosAt(nth)) {
          attempt++;
          await begin();
          faults.arm('files', nth, errno);
          const [outcome] = await acts();
          const at = `${errno} at call ${nth}, ${faults.disarm()} failed`;
          // EIO after a failed sync: for any errno it is unknown which data is on the disk (fsync(2)).
          expect(['ok', errno, 'EIO'], at).toContain(outcome);
          expect(await beside.run("return fs.readFileSync('kept')"), at).toEqual(['ok', 'kept']);
          if (outcome !== 'ok') expect((await acts())[0], at).toBe('ok');
          expect(await program.run(`return ${numbered(read, attempt)}`), at).toEqual(['ok', given(attempt)]);
        }
      }
      await mount.workspaces.detach(failing.id);
      await mount.workspaces.attach(failing);
      for (let n = 0; n <= attempt; n++)
        expect(await program.run(`return ${numbered(read, n)}`)).toEqual(['ok', given(n)]);
      expect(dead).toBe('');
    },
  );
});
