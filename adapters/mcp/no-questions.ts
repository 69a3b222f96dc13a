/**
 * Takes the place of the module with which the library of MCP validates answers of users to questions of a server. No tool
 * asks one. `process` is that of its transport over standard input, which is not used either.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('no tool asks questions');
  }
}

export { default as process } from 'node:process';
