/**
 * Refuses a call of a generator function as a statement: it does nothing, since its steps are never taken. Meant are
 * `yield* work()` or `complete(work())`. Part of `npm run types`; exit code 1 names each.
 * usage: lint-steps.mjs [DIRECTORY]
 */
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(process.argv[2] ?? '.');
const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
const { fileNames, options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
const program = ts.createProgram(fileNames, { ...options, noEmit: true });
const checker = program.getTypeChecker();
const GENERATORS = new Set(['Generator', 'AsyncGenerator']);

/** @type {(file: ts.SourceFile, node: ts.Node) => void} */
function look(file, node) {
  if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) {
    const type = checker.getTypeAtLocation(node.expression);
    if (GENERATORS.has(type.getSymbol()?.name ?? '')) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      const name = relative(root, file.fileName);
      process.stdout.write(`${name}:${line + 1}: the steps of this call are never taken: ${node.getText(file)}\n`);
      process.exitCode = 1;
    }
  }
  ts.forEachChild(node, (child) => look(file, child));
}

for (const file of program.getSourceFiles()) {
  if (!file.isDeclarationFile && !file.fileName.includes('/node_modules/')) look(file, file);
}
