import type { Plugin } from 'esbuild';

export function compileProto(path: string): string;
export const protoPlugin: Plugin;
