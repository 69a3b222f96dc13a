import { describe, expect, it } from 'vitest';
import { attached, linesOf, OlderState } from './older-state.ts';

describe('the state of a server of commit 9a21782', () => {
  it('is shown completely, also after a second start', () => {
    const state = new OlderState();
    for (const round of [1, 2]) {
      for (const [name, { id, tree }] of Object.entries(state.expected.sandboxes)) {
        const spec = state.spec(state.records.find((record) => record.id === id)!);
        expect({ round, name, tree: attached(spec, (fs) => linesOf(fs, spec)) }).toEqual({
          round,
          name,
          tree: [...tree].sort(),
        });
      }
    }
  });

  it('has its checkpoints for forks and rollbacks', () => {
    const state = new OlderState();
    for (const record of state.records) {
      for (const { name, layer } of record.checkpoints ?? []) {
        const tree = state.expected.checkpoints[name]?.toSorted();
        const spec = state.spec(record);
        const fork = { ...spec, id: `fork-${name}`, delta: `${spec.delta}-${name}`, origin: layer };
        if (tree !== undefined) expect(attached(fork, (fs) => linesOf(fs, fork))).toEqual(tree);
        const back = attached(spec, (fs) => {
          fs.rollback(spec.id, layer);
          return linesOf(fs, spec);
        });
        if (tree !== undefined) expect(back).toEqual(tree);
      }
    }
  });
});
