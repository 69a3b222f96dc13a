import { define, string } from './define.ts';

export const createCodebase = define({ name: string, owner_id: string }, ({ request }, { services }) =>
  services.codebases.create(request),
);
