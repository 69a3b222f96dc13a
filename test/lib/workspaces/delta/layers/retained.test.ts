import { expect, it } from 'vitest';
import { Retained } from '../../../../../lib/workspaces/delta/layers/retained.ts';

it('the retained usage reads the summary of each layer once, for any number of checkpoints', () => {
  const read: string[] = [];
  const retained = new Retained('sb_1.', {
    read: (layer) => {
      read.push(layer);
      const last = Number(layer.slice('sb_1.'.length));
      const layers = Array.from({ length: last }, (_, n) => `sb_1.${n + 1}`);
      return { index: 100, layers, contents: new Map(layers.map((each) => [each, { bytes: 10, files: 1 }])) };
    },
    making: function* () {},
  });
  const checkpoints = Array.from({ length: 30 }, (_, n) => `sb_1.${n + 1}`);
  for (let count = 1; count <= checkpoints.length; count++) {
    expect(retained.setCheckpoints(checkpoints.slice(0, count))).toBe(true);
    expect([retained.bytes, retained.files]).toEqual([count * 110, count]);
  }
  expect(read).toEqual(checkpoints);
  retained.setCheckpoints([]);
  expect([retained.bytes, retained.files]).toEqual([0, 0]);
});
