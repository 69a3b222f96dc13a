import { runCommitFiles } from '../../lib/codebases/commits/commit-files.ts';

runCommitFiles();
