import { runTextTools } from '../../lib/text-tools/text-tools.ts';

runTextTools();
