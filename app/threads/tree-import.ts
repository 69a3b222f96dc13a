import { runTreeImport } from '../../lib/codebases/archive/tree-import.ts';

runTreeImport();
