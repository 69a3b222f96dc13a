import { runTreeExport } from '../../lib/codebases/archive/tree-export.ts';

runTreeExport();
