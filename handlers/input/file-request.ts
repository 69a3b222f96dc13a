import { string } from './kinds.ts';

export const fileRequest = { sandbox_id: string, as: string, path: string };
