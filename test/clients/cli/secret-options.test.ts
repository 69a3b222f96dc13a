import { expect, it } from 'vitest';
import { sandboxOptionsOf } from '../../../clients/cli/src/options/sandbox.ts';
import { secretsOf } from '../../../clients/cli/src/options/secrets.ts';

it('a secret has a variable and hosts', () => {
  expect(secretsOf(['github=TOKEN@api.github.com,*.github.example', 'my-key'])).toEqual([
    { name: 'github', variable: 'TOKEN', hosts: ['api.github.com', '*.github.example'] },
    { name: 'my-key', variable: 'MY_KEY', hosts: [] },
  ]);
  for (const bad of ['', '=A', '@a', 'a=b=c', 'a@']) expect(() => secretsOf([bad])).toThrow(/--secret is like/);
});

it('its hosts are allowed, with what else is', () => {
  const allowed = { action: 'allow', host: 'a.example', ports: [] };
  expect(sandboxOptionsOf({ secret: ['a@a.example'] }, {}).network).toEqual({ mode: 'allow_list', rules: [allowed] });
  expect(sandboxOptionsOf({ secret: ['a@a.example'], network: 'open', deny: ['b.example'] }, {}).network).toMatchObject(
    {
      mode: 'open',
      rules: [{ action: 'deny' }, allowed],
    },
  );
  expect(sandboxOptionsOf({ secret: ['a'] }, {})).not.toHaveProperty('network');
});
