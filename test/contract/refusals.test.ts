import { expect } from 'vitest';
import { hide, read, view, write } from './rules.ts';
import { type Case, contract } from './suite.ts';

const cases: Case[] = [
  {
    name: 'what the rules refused commands is listed with the rules that decide, and nothing else',
    run: async (scene) => {
      const permissions = [read('**'), write('src/', 1), hide('secrets/', 1), view('seen/', 1)];
      const files = { 'src/a': 'a', 'package.json': '{}', 'secrets/key': 'k', 'seen/x': 'x', 'docs/d': 'd' };
      const sandbox = await scene.sandboxOn(files, permissions);
      const list = async () => (await scene.client.call('ListRefusals', { sandbox_id: sandbox.id })).refusals;
      // Reading, and what is not there, is no refusal.
      await scene.run(
        sandbox,
        'ls -laR . && cat package.json docs/d && ls -la . docs && stat package.json && cat src/a none',
      );
      await scene.run(sandbox, 'echo b > src/b && mv src/b src/a && rm src/a');
      expect(await list()).toEqual([]);
      await scene.run(sandbox, 'cat secrets/key seen/x none; echo x > package.json; rm docs/d; echo x > package.json');
      const found = (await list()).map(({ path, code, rule, count }) => [path, code, rule?.index, Number(count)]);
      expect(found).toEqual([
        ['secrets', 'hidden', 2, 1],
        ['seen/x', 'not_readable', 3, 1],
        ['package.json', 'read_only', 0, 2],
        ['docs', 'read_only', 0, 1],
      ]);
      await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
      expect(await list()).toEqual([]);
    },
  },
];

contract('refusals', cases);
