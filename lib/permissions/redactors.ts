/** How the values of a file are found. 'all': the whole content is hidden. */
export const REDACTORS = ['dotenv', 'json', 'yaml', 'ini', 'netrc', 'pem', 'gitconfig', 'tokens', 'all'] as const;
export type Redactor = (typeof REDACTORS)[number];
