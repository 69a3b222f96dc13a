import { randomBytes } from 'node:crypto';

const NAME = /^\.paddock-[0-9a-f]{16}\.tmp$/;

/** For a file that is renamed to its place when it is complete. A client that is killed before leaves it. */
export const temporaryName = (): string => `.paddock-${randomBytes(8).toString('hex')}.tmp`;

export const isTemporary = (name: string): boolean => NAME.test(name);
