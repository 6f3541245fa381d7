/** The examples of the README and of the guides are run as they stand, and answer what is written there. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_KEY, cleanUp, newDataDir, type RunningServer, startServer } from './server-process.ts';

const root = join(import.meta.dirname, '..');
const readPage = (name: string) => readFileSync(join(root, name), 'utf8');
/** Their examples run one after the other, on one server. */
const pages = ['README.md', 'docs/account.md'].map(readPage);
const ADDRESS = 'http://127.0.0.1:4000';

const blocks = (page: string, language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!);

/** `$ command`, with the lines below it as its output. A command goes on where its line ends in a backslash. */
const examples = pages
  .flatMap((page) => blocks(page, 'console'))
  .join('')
  .split(/^\$ /m)
  .slice(1)
  .map((text) => {
    const [, command, output] = /^((?:.*\\\n)*.*)\n([\s\S]*)$/.exec(text)!;
    return { command: command!.replaceAll('\\\n', ' '), output: output!.trim() };
  });

let server: RunningServer;
beforeAll(async () => {
  server = await startServer(await newDataDir(), { ORIEL_ADMIN_API_KEY: ADMIN_KEY });
});
afterAll(cleanUp);

/** What differs from run to run. */
const settle = (text: string) =>
  text
    .replaceAll(server.url, ADDRESS)
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/Timestamp":\d+/g, 'Timestamp":<time>')
    .replaceAll(/"sk-[^"]+"/g, '"<key>"')
    .replaceAll(/"(sessionId|token)":"[^"]+"/g, '"$1":"<secret>"')
    .replaceAll(/"(startCursor|endCursor)":"[^"]+"/g, '"$1":"<cursor>"')
    .replaceAll(/"lastSeenAt":("<time>"|null)/g, '"lastSeenAt":<time or null>')
    .replaceAll(/"requestId":"[^"]+"/g, '"requestId":"<id>"');

test('there are examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(11);
});

/** What the pages call by a name: the key, and what earlier examples answered. */
const names: Record<string, string> = { ORIEL_ADMIN_API_KEY: ADMIN_KEY };

test.each(examples)('$command', async ({ command, output }) => {
  const answer = await runCurl(
    command.replaceAll(ADDRESS, server.url).replaceAll(/\$(\w+)/g, (text, name) => names[name] ?? text),
  );
  expect(settle(answer)).toBe(settle(output));
  const { sessionId, token } = JSON.parse(answer);
  if (sessionId) names.SESSION_ID = sessionId;
  if (token) names.TOKEN = token;
});

test('the picture shows what a first start prints', () => {
  const picture = readFileSync(join(root, 'docs/images/first-start.svg'), 'utf8');
  const printed = server.stdout.split('\n').filter((line) => line && !line.startsWith('{'));
  // The words in front of what differs from start to start.
  const words = printed.map((line) => /^ {2}\S.{13}|^[^:]+(?=:|$)/.exec(line)?.[0] ?? line);
  expect(words.length).toBeGreaterThan(8);
  for (const beginning of words)
    expect(picture).toContain(beginning.replaceAll(server.url, ADDRESS).trimEnd());
});

test('the TypeScript example', async () => {
  const [readme] = pages;
  const [program, output] = [blocks(readme!, 'ts')[0]!, blocks(readme!, 'text').at(-1)!];
  const file = join(import.meta.dirname, `.readme-example-${process.pid}.ts`);
  await writeFile(file, program.replaceAll(ADDRESS, server.url));
  try {
    const { stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/tsx'), [file], {
      encoding: 'utf8',
      env: { ...process.env, ORIEL_ADMIN_API_KEY: ADMIN_KEY },
    });
    expect(stderr).toBe('');
    expect(stdout).toBe(output);
  } finally {
    await rm(file);
  }
});

/** The part of curl that the pages use, so that the examples also run where there is none. */
async function runCurl(command: string): Promise<string> {
  const [program, ...words] = [...command.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(
    ([, a, b, c]) => a?.replaceAll(/\\(.)/g, '$1') ?? b ?? c!,
  );
  expect(program).toBe('curl');
  const headers = new Headers();
  let method: string | undefined;
  let body: string | undefined;
  let url = '';
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-H') {
      const [name, value] = words.shift()!.split(/: (.*)/s);
      headers.set(name!, value!);
    } else if (word === '-X') method = words.shift();
    else if (word === '-d') body = words.shift();
    else if (word.startsWith('-')) throw new Error(`what does curl do with ${word}?`);
    else url = word;
  }
  const response = await fetch(url, { method: method ?? (body ? 'POST' : 'GET'), headers, body });
  return response.text();
}
