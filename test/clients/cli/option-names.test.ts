import { expect, it } from 'vitest';
import { inOptions } from '../../../clients/cli/src/command-line/option-of-field.ts';

it.each([
  ['network.presets[0] must be one of npm', '--allow-preset must be one of npm'],
  ['network.rules[2].host is no name', '--allow or --deny is no name'],
  ['rules.write[0] must be a pattern', '--rule must be a pattern'],
  ['resources.memory_bytes must be at least 1', '--memory must be at least 1'],
  ['image "x" is no image of this server', '--image "x" is no image of this server'],
  ['preset must be one of a', '--preset must be one of a'],
  ['imageless things stay', 'imageless things stay'],
])('%s is told as %s', (field, option) => {
  expect(inOptions(field)).toBe(option);
});
