/**
 * Refuses, in the pages that people read, links to files and headings that do not exist, and sentences of more than 25
 * words. A list of names in code counts as one word; a semicolon or colon ends a sentence. Part of `npm run lint`; exit code 1 names each.
 * usage: lint-docs.mjs [DIRECTORY]
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOMS = ['.', 'docs', 'clients', 'examples'];
const SKIPPED = /(^|\/)(node_modules|dist|CHANGELOG\.md)(\/|$)/;
const WORDS = 25;

const root = process.argv[2] ?? '.';
const pages = new Set(ROOMS.flatMap((room) => list(join(root, room), room !== '.')));
const problems = [...pages].flatMap((page) => {
  const text = withoutCode(readFileSync(page, 'utf8'));
  return [...brokenLinks(page, text), ...longSentences(text)].map((each) => `${relative(root, page)}: ${each}`);
});
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

/** @type {(directory: string, recursive: boolean) => string[]} */
function list(directory, recursive) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !SKIPPED.test(name))
    .map((name) => join(directory, name));
}

/** @type {(text: string) => string} */
function withoutCode(text) {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/<!--[\s\S]*?-->/g, '');
}

/** @type {(page: string, text: string) => string[]} */
function brokenLinks(page, text) {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? '');
  return links
    .filter((link) => !/^[a-z]+:/.test(link))
    .flatMap((link) => {
      const [path = '', heading] = link.split('#');
      const target = path === '' ? page : resolve(dirname(page), path);
      if (!existsSync(target)) return [`the link to ${link} leads nowhere`];
      if (heading === undefined || statSync(target).isDirectory()) return [];
      return headings(target).has(heading) ? [] : [`the link to ${link} names a heading that does not exist`];
    });
}

/** The anchors of a page, as GitHub and GitLab make them. @type {(page: string) => Set<string>} */
function headings(page) {
  const text = withoutCode(readFileSync(page, 'utf8'));
  const titles = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title.replace(/\]\([^)]*\)/g, ''));
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\- _]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** @type {(text: string) => string[]} */
function longSentences(text) {
  const plain = text
    .replace(/`[^`]*`/g, 'code')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/code(,? (and |or )?code)+/g, 'code');
  const parts = plain.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\||#)| \| |^\| /m);
  const sentences = parts.flatMap((part) => part.replace(/\s+/g, ' ').split(/(?<=[.!?:;][)"*]*) /));
  return sentences
    .map((sentence) => ({ sentence, words: sentence.split(' ').filter((each) => /[\p{L}\p{N}]/u.test(each)).length }))
    .filter(({ words }) => words > WORDS)
    .map(({ sentence, words }) => `a sentence of ${words} words, at most ${WORDS}: ${sentence.trim()}`);
}
