/** Runs the examples of the README and of the guides in a shell, and compares the output with what the pages show. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireGit } from '../scripts/git.ts';
import { cleanUp, newDataDir, newFolder, type RunningServer, startServer } from './server-process.ts';

const root = join(import.meta.dirname, '..');
const readPage = (name: string) => readFileSync(join(root, name), 'utf8');
const readme = readPage('README.md');
const ADDRESS = 'http://127.0.0.1:4000';

const blocks = (page: string, language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!);

interface Example {
  command: string;
  output: string;
}

/** A block of commands, and the block right below it as their output, if there is one. */
const pasted = (page: string): Example[] =>
  [...page.matchAll(/^```sh\n([\s\S]*?)^```\n(?:\n```(?:json|text)\n([\s\S]*?)^```$)?/gm)]
    .map(([, command, output = '']) => ({ command: command!, output: output.trim() }))
    .filter(({ command }) => !command.startsWith('npm '));

/** `$ command`, with the lines below it as its output. A command continues if its line ends with a backslash. */
const prompted = (page: string): Example[] =>
  blocks(page, 'console')
    .join('')
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [, command, output] = /^((?:.*\\\n)*.*)\n([\s\S]*)$/.exec(text)!;
      return { command: command!, output: output!.trim() };
    });

/** The examples run one after the other, on one server. */
const examples = [
  ...pasted(readme),
  ...pasted(readPage('docs/data-models.md')),
  ...['docs/account.md', 'docs/deployments.md'].flatMap((page) => prompted(readPage(page))),
];

let server: RunningServer;
let shell: (command: string) => string;
beforeAll(async () => {
  requireGit();
  server = await startServer(await newDataDir());
  shell = await openShell();
  // The first start prints this line, and the README asks the reader to paste it.
  shell(/^ {2}export ORIEL_ADMIN_API_KEY=.*$/m.exec(server.stdout)![0]);
});
afterAll(cleanUp);

/**
 * Runs commands one after the other, as in one terminal: in one folder, and variables that one of them sets are set for
 * the later ones.
 */
async function openShell() {
  const folder = await newFolder();
  const variables = join(folder, 'variables');
  await writeFile(variables, '');
  const cwd = await newFolder();
  const curl = `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dirname, 'curl.mjs')}" "$@"\n`;
  await writeFile(join(folder, 'curl'), curl, { mode: 0o755 });
  return (command: string) => {
    const script = `. "$VARIABLES"; set -a\n${command.replaceAll(ADDRESS, server.url)}\nexport -p > "$VARIABLES"`;
    const env = { PATH: `${folder}:${process.env.PATH}`, VARIABLES: variables };
    const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8', env, cwd });
    expect([stderr, status]).toEqual(['', 0]);
    return stdout.trim();
  };
}

/** Replaces the parts that differ from run to run. */
const settle = (text: string) =>
  text
    .replaceAll(server.url, ADDRESS)
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/Timestamp":\d+/g, 'Timestamp":<time>')
    .replaceAll(/"sk-[^"]+"/g, '"<key>"')
    .replaceAll(/(?<=^|^Session )\d+\.[\w.-]{32,}$/gm, '<session>')
    .replaceAll(/"(startCursor|endCursor)":"[^"]+"/g, '"$1":"<cursor>"')
    .replaceAll(/"lastSeenAt":("<time>"|null)/g, '"lastSeenAt":<time or null>')
    .replaceAll(/"actions":\[[^\]]+\]/g, '"actions":[<actions>]')
    .replaceAll(/"buildJobId":\d+/g, '"buildJobId":<id>')
    .replaceAll(/\b[0-9a-f]{40}\b/g, '<hash>')
    .replaceAll(/"requestId":"[^"]+"/g, '"requestId":"<id>"');

test('there are examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(11);
});

test.each(examples)('$command', ({ command, output }) => {
  expect(settle(shell(command))).toBe(settle(output));
});

test('the picture shows the output of a first start', () => {
  const picture = readFileSync(join(root, 'docs/images/first-start.svg'), 'utf8');
  const printed = server.stdout.split('\n').filter((line) => line && !line.startsWith('{'));
  // The words before the parts that differ from start to start.
  const words = printed.map((line) => /^ {2}\S.{13}|^[^:]+(?=:|$)/.exec(line)?.[0] ?? line);
  expect(words.length).toBeGreaterThan(8);
  for (const beginning of words)
    expect(picture).toContain(beginning.replaceAll(server.url, ADDRESS).trimEnd());
});

test('no page shows a key that somebody could copy and use', () => {
  for (const page of ['README.md', 'docs/operating.md', 'docs/images/first-start.svg']) {
    expect(readPage(page)).not.toMatch(/sk-[\w-]{8,}/);
  }
});

test('the TypeScript example', async () => {
  const [program, output] = [blocks(readme, 'ts')[0]!, blocks(readme, 'text').at(-1)!];
  const file = join(import.meta.dirname, `.readme-example-${process.pid}.ts`);
  await writeFile(file, program.replaceAll(ADDRESS, server.url));
  try {
    const { stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/tsx'), [file], {
      encoding: 'utf8',
      env: { ...process.env, ORIEL_ADMIN_API_KEY: server.apiKey },
    });
    expect(stderr).toBe('');
    expect(settle(stdout)).toBe(settle(output));
  } finally {
    await rm(file);
  }
});
