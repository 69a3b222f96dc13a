const SOURCE = 'Generated from local-refusals/table.ts by `npm run generate`; do not edit.';

/** Returns the names of the table for the TypeScript client. */
export const renderOnSight = (table) => `// ${SOURCE}

/** Directories of version control, in lower case. */
export const REPOSITORIES: readonly string[] = ${list(table.REPOSITORIES, "'", ['[', ']'])};

/** What tools run without being asked to, in any directory, in lower case. A name may have \`*\`. */
export const ON_SIGHT: readonly string[] = ${list(namesOf(table), "'", ['[', ']'])};
`;

/** The same for the Python client. */
export const renderPythonOnSight = (table) => `"""Names by which tools run what they find.

${SOURCE}
"""

#: Directories of version control, in lower case.
REPOSITORIES = ${list(table.REPOSITORIES, '"', ['(', ')'])}
#: What tools run without being asked to, in any directory, in lower case. A name may have \`*\`.
ON_SIGHT = ${list(namesOf(table), '"', ['(', ')'])}
`;

const namesOf = ({ ON_SIGHT }) => ON_SIGHT.map(([pattern]) => pattern);

const list = (names, quote, [open, close]) => {
  const indent = quote === '"' ? '    ' : '  ';
  return `${open}\n${names.map((name) => `${indent}${quote}${name}${quote},\n`).join('')}${close}`;
};
