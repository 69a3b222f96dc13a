import { ServiceError } from '../errors.ts';

const MAX_CHARACTERS = 255;

/** Throws INVALID_ARGUMENT: `name` is required; `owner_id` may be empty, which is a user like any other. */
export function checkCreate({ name, owner_id }: { name: string; owner_id: string }): void {
  if (name === '') throw new ServiceError('INVALID_ARGUMENT', 'name is required');
  checkText('name', name);
  checkText('owner_id', owner_id);
}

function checkText(field: string, text: string): void {
  if (text.length > 2 * MAX_CHARACTERS || Array.from(text).length > MAX_CHARACTERS) {
    throw new ServiceError('INVALID_ARGUMENT', `${field} must have at most ${MAX_CHARACTERS} characters`);
  }
  if (/[\p{Cc}\p{Surrogate}]/u.test(text)) {
    throw new ServiceError('INVALID_ARGUMENT', `${field} must have no control characters`);
  }
}
