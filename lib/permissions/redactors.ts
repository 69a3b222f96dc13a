/** How the values of a file are found. 'all': the whole content is hidden. */
export const REDACTORS = ['dotenv', 'json', 'yaml', 'pem', 'gitconfig', 'all'] as const;
export type Redactor = (typeof REDACTORS)[number];
