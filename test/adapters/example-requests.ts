import { type Operation, operations } from '../../handlers/index.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The example of an operation as a request, with `ids` for the variables of the shell, and for those parameters of the path
 * that the example leaves to variables.
 */
export function exampleRequest(name: Operation['operation'], ids: Readonly<Record<string, string>>): Fields {
  const { path, example } = operations.find(({ operation }) => operation === name)!;
  const parameters = Array.from(path.matchAll(/\{(\w+)\+?\}/g), ([, parameter = '']) => parameter);
  const { path: inPath, query, body, form } = example;
  const fields = { ...query, ...body, ...(form && { file_path: form.path }), ...inPath };
  const text = JSON.stringify(fields).replace(/\$([A-Z]+)/g, (_, variable: string) => {
    return ids[`${variable.toLowerCase()}_id`] ?? '';
  });
  const left = parameters.filter((parameter) => !(parameter in fields));
  return { ...JSON.parse(text), ...Object.fromEntries(left.map((parameter) => [parameter, ids[parameter]])) };
}
