import { CONFLICT_CHOICES } from '../lib/field-values.ts';
import { changeChoice, chosenHunks, define } from './define.ts';

export const commit = define(
  'Commit',
  {
    ...changeChoice,
    hunks: chosenHunks,
    on_conflict: { values: CONFLICT_CHOICES },
  },
  ({ request }, { services, intent }) => services.sandboxes.commit({ ...request, intent }),
);
