import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** See `slowness`. */
    slowness: number;
  }
}

/**
 * How many times slower than usual this machine is, as its vitest configuration says: 1, and more in the emulated
 * machine. Limits of time that a test gives to what it starts are multiplied by it.
 */
export const slowness = inject('slowness') ?? 1;
