import type { Sandbox } from '../../typescript/src/contract/messages.ts';

/** "SANDBOX_RUNNING" and the like for people. */
export const statusText = ({ status }: Pick<Sandbox, 'status'>): string => status.replace(/^[A-Z]+_/, '').toLowerCase();

export const timeText = (seconds: number): string =>
  seconds === 0 ? '' : new Date(seconds * 1000).toISOString().replace('T', ' ').slice(0, 16);
