import type { BuildOptions } from 'esbuild';

/** Bundles the script of each worker thread; resolves with them by role, compressed. */
export function packThreads(options: BuildOptions): Promise<Record<string, string>>;
