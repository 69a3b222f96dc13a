import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../lib/ids.ts';
import { takeLock } from '../../../lib/metadata/lock.ts';
import { verifyState } from '../../../lib/verify/verify-state.ts';
import { withHome } from '../workspaces/in-home.ts';
import { attached, linesOf, OlderState } from '../workspaces/older-state.ts';
import { fingerprint, flip, LARGE, State, storageIn, verified } from './state.ts';

describe('HOME of a sandbox', () => {
  function stateWithHome(): State {
    const state = new State();
    const { home } = withHome(state.s);
    home.create('small', 'small contents');
    home.create('large', LARGE);
    state.s.detachAll();
    return state;
  }

  it('is read, with its contents', async () => {
    const { damaged, notes, last } = await verified(stateWithHome().home);
    expect([damaged, notes]).toEqual([[], []]);
    expect(last).toMatch(/checked 1 codebases, 2 sandboxes, 3 layers, 7 contents .*\(3 of them/);
  });

  it.each([
    [
      'contents',
      /home\/data\/.*slab-4096$/,
      /the contents do not match their checksum .*HOME of sandbox .*, file "small"/,
    ],
    ['a journal', /home\/journal$/, /home\/journal: .*HOME of sandbox/],
    ['a mark', /home\/journal\.mark$/, /the mark of the journal does not match its checksum .*HOME of sandbox/],
  ])('with damaged %s is named', async (_, file, what) => {
    const state = stateWithHome();
    const [path] = state.find(file);
    flip(path!, 5);
    expect((await verified(state.home)).damaged).toEqual([expect.stringMatching(what)]);
  });
});

describe('a state without damage', () => {
  it('is reported as intact, and nothing on the disk changes', async () => {
    const { home } = new State();
    const before = fingerprint(home);
    const { damaged, notes, last } = await verified(home);
    expect([damaged, notes]).toEqual([[], []]);
    expect(last).toMatch(/^0 damaged, 0 notes; checked 1 codebases, 2 sandboxes, 3 layers, 5 contents .*\(2 of them/);
    expect(fingerprint(home)).toEqual(before);
  });

  it('of a server of commit 9a21782 that was killed is read and not converted', async () => {
    const { directory } = new OlderState();
    const before = fingerprint(directory);
    expect((await verified(directory)).damaged).toEqual([]);
    expect(fingerprint(directory)).toEqual(before);
  });

  it('of an older server is intact after its conversion', async () => {
    const state = new OlderState();
    for (const record of state.records) attached(state.spec(record), (fs) => linesOf(fs, state.spec(record)));
    expect((await verified(state.directory)).damaged).toEqual([]);
  });

  it('with a torn last line and an unfinished compaction is left for the next start to repair', async () => {
    const state = new State();
    writeFileSync(state.journal(state.sandbox), '[12,["li', { flag: 'a' });
    writeFileSync(`${state.journal(state.sandbox)}.new`, 'half');
    const before = fingerprint(state.home);
    expect((await verified(state.home)).damaged).toEqual([]);
    expect(fingerprint(state.home)).toEqual(before);
  });
});

interface Harm {
  name: string;
  /** Damages a file. Returns its path. */
  harm: (state: State) => string;
  what: RegExp;
  owner: (state: State) => string[];
}

const removed = (path: string) => {
  rmSync(path, { recursive: true });
  return path;
};
const flipped = (path: string, at = 40) => {
  flip(path, at);
  return path;
};
const ofSandbox = ({ sandbox }: State) => [`sandbox ${sandbox}`];
const ofFork = ({ fork }: State) => [`sandbox ${fork}`];
const ofAll = () => ['all codebases and sandboxes'];
const ofCodebase = ({ codebase }: State) => [`codebase ${codebase}`];
const ofLayer = ({ sandbox, fork }: State) => [
  `checkpoint "cp" of sandbox ${sandbox}`,
  `sandbox ${sandbox}`,
  `sandbox ${fork}`,
];
const frozen = (state: State, name: string) => join(state.home, 'mounts/layers', state.layer, name);
const topSlab = (state: State, id: string) =>
  state.find(/slab-4096$/).find((path) => path.includes(`/${id}.`) && !path.includes(state.layer))!;

const HARMS: Harm[] = [
  {
    name: 'metadata with a flipped bit',
    harm: ({ home }) => flipped(join(home, 'metadata.json'), 150),
    what: /the metadata (does not match its checksum|is damaged at byte \d+)/,
    owner: ofAll,
  },
  {
    name: 'missing metadata',
    harm: ({ home }) => removed(join(home, 'metadata.json')),
    what: /the metadata is missing/,
    owner: ofAll,
  },
  {
    name: 'a log with a flipped bit',
    harm: ({ home }) => flipped(join(home, 'metadata.json.log.1'), 60),
    what: /the metadata is damaged at byte \d+/,
    owner: ofAll,
  },
  {
    name: 'a missing log',
    harm: ({ home }) => removed(join(home, 'metadata.json.log.1')),
    what: /the metadata is missing/,
    owner: ofAll,
  },
  {
    name: 'a backup with a flipped bit',
    harm: ({ home }) => flipped(join(home, 'metadata.json.bak'), 150),
    what: /the metadata (does not match its checksum|is damaged at byte \d+)/,
    owner: ofAll,
  },
  {
    name: 'a missing directory of a codebase',
    harm: ({ home, codebase }) => removed(join(home, 'codebases', codebase)),
    what: /the folder is missing/,
    owner: ofCodebase,
  },
  {
    name: 'missing files of a codebase',
    harm: ({ home, codebase }) => removed(join(home, 'codebases', codebase, 'files')),
    what: /the folder is missing/,
    owner: ofCodebase,
  },
  {
    name: 'a truncated commit journal',
    harm: ({ home, codebase }) => {
      const path = join(home, 'codebases', codebase, 'commit.json');
      writeFileSync(path, '{"id":"x","stages":[');
      return path;
    },
    what: /the commit journal is damaged/,
    owner: ofCodebase,
  },
  {
    name: 'a journal with a flipped bit',
    harm: (state) => {
      const path = state.journal(state.sandbox);
      return flipped(path, statSync(path).size - 30);
    },
    what: /line \d+ does not match its checksum/,
    owner: ofSandbox,
  },
  {
    name: 'a missing journal',
    harm: (state) => removed(state.journal(state.fork)),
    what: /its journal is missing or empty/,
    owner: ofFork,
  },
  {
    name: 'a truncated journal',
    harm: (state) => {
      const path = state.journal(state.sandbox);
      truncateSync(path, readFileSync(path).lastIndexOf('\n', -2) + 1);
      return path;
    },
    what: /its journal has \d+ bytes, and had \d+/,
    owner: ofSandbox,
  },
  {
    name: 'a missing delta',
    harm: ({ home, sandbox }) => `${removed(join(home, 'mounts/deltas', sandbox))}/journal`,
    what: /its journal is missing or empty/,
    owner: ofSandbox,
  },
  {
    name: 'a mark with a flipped bit',
    harm: (state) => flipped(`${state.journal(state.sandbox)}.mark`, 2),
    what: /the mark of the journal does not match its checksum/,
    owner: ofSandbox,
  },
  {
    name: 'an index with a flipped bit',
    harm: (state) => flipped(frozen(state, 'index')),
    what: /the index of the frozen layer .* is damaged: line 1 does not match its checksum/,
    owner: ofLayer,
  },
  {
    name: 'a missing index',
    harm: (state) => removed(frozen(state, 'index')),
    what: /the frozen layer .* is missing/,
    owner: ofLayer,
  },
  {
    name: 'a missing frozen layer',
    harm: (state) => `${removed(frozen(state, ''))}/index`,
    what: /the frozen layer .* is missing/,
    owner: ofLayer,
  },
  {
    name: 'contents in a slot of a frozen layer with a flipped bit',
    harm: (state) => `${flipped(frozen(state, 'slab-4096'), 3)}, slot 0`,
    what: /the contents do not match their checksum/,
    // The fork has different contents for that file.
    owner: ({ sandbox }) => [
      `checkpoint "cp" of sandbox ${sandbox}, file "d/small"`,
      `sandbox ${sandbox}, file "d/small"`,
    ],
  },
  {
    name: 'contents in a slot of the top layer with a flipped bit',
    harm: (state) => `${flipped(topSlab(state, state.fork), 3)}, slot 0`,
    what: /the contents do not match their checksum/,
    owner: ({ fork }) => [`sandbox ${fork}, file "d/small"`],
  },
  {
    name: 'a missing slab',
    harm: (state) => `${removed(topSlab(state, state.sandbox))}, slot 0`,
    what: /a part of the contents is missing/,
    owner: ({ sandbox }) => [`sandbox ${sandbox}, file "later"`],
  },
  {
    name: 'a missing data file of a frozen layer',
    harm: (state) => removed(state.find(/\/0\/\d+$/).find((path) => path.includes(state.layer))!),
    what: /the data file is missing/,
    owner: (state) => ofLayer(state).map((owner) => `${owner}, file "large"`),
  },
  {
    name: 'a truncated data file of a frozen layer',
    harm: (state) => {
      const path = state.find(/\/0\/\d+$/).find((each) => each.includes(state.layer))!;
      truncateSync(path, 10);
      return path;
    },
    what: /the data file has 10 bytes, not those recorded/,
    owner: (state) => ofLayer(state).map((owner) => `${owner}, file "large"`),
  },
  {
    name: 'a missing data file of the top layer',
    harm: (state) => removed(state.find(/\/0\/\d+$/).find((path) => !path.includes(state.layer))!),
    what: /the data file is missing/,
    owner: ({ sandbox }) => [`sandbox ${sandbox}, file "large later"`],
  },
  {
    name: 'a sandbox of a codebase without a record',
    harm: (state) => {
      state.codebases.length = 0;
      state.sandboxes.length = 1;
      state.writeMetadata();
      return join(state.home, 'metadata.json');
    },
    what: /there is no record of codebase cb_/,
    owner: ofSandbox,
  },
];

describe('damage', () => {
  it.each(HARMS)(
    '$name is reported once, with its path and owners, and nothing changes',
    async ({ harm, what, owner }) => {
      const state = new State();
      const where = harm(state);
      const before = fingerprint(state.home);
      const { damaged, last } = await verified(state.home);
      expect(damaged).toHaveLength(1);
      expect(damaged[0]).toMatch(what);
      expect(damaged[0]!.startsWith(`damaged: ${where}: `)).toBe(true);
      expect(damaged[0]!.endsWith(` (${owner(state).join('; ')})`)).toBe(true);
      expect(last).toMatch(/^1 damaged, /);
      expect(fingerprint(state.home)).toEqual(before);
    },
  );

  it('of several items is reported for each', async () => {
    const state = new State();
    flip(frozen(state, 'slab-4096'), 3);
    rmSync(state.journal(state.fork));
    rmSync(join(state.home, 'codebases', state.codebase), { recursive: true });
    expect((await verified(state.home)).damaged).toHaveLength(3);
  });

  it('of a name with control characters is one line without them', async () => {
    const state = new State();
    state.s.goOn({ ...state.s.spec, id: state.sandbox, delta: join(state.home, 'mounts/deltas', state.sandbox) });
    state.s.create('a\n\u001b[2Jb', LARGE);
    state.s.fs.detach(state.sandbox);
    for (const path of state.find(/\/0\/\d+$/)) rmSync(path);
    for (const line of (await verified(state.home)).damaged) expect(line).not.toMatch(/\p{Cc}/u);
  });
});

describe('an item that no record names', () => {
  it('is a note, not damage', async () => {
    const state = new State();
    const names = [`codebases/${newId('cb')}`, `mounts/deltas/${newId('sb')}`, `mounts/layers/${newId('sb')}.0-ab`];
    for (const name of names) mkdirSync(join(state.home, name));
    const { damaged, notes } = await verified(state.home);
    expect(damaged).toEqual([]);
    expect(notes).toHaveLength(3);
    for (const [index, name] of names.entries()) expect(notes[index]).toContain(join(state.home, name));
  });
});

describe('a state that cannot be checked', () => {
  it.each(['metadata.json.lock', 'mounts/.lock', 'codebases/.lock'])('is in use by a server (%s)', async (name) => {
    const { home } = new State();
    const release = takeLock(join(home, name));
    await expect(verifyState(storageIn(home))).rejects.toThrow(
      /^a server runs on this state, stop it first: .* is locked$/,
    );
    release();
    expect((await verified(home)).damaged).toEqual([]);
  });

  it('does not exist', async () => {
    const { home } = new State();
    const nowhere = join(home, 'nowhere');
    await expect(verifyState(storageIn(nowhere))).rejects.toThrow(/there is no state to verify/);
  });
});
