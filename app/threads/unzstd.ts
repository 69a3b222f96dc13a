import { runUnzstd } from '../../lib/archive/unzstd.ts';

runUnzstd();
