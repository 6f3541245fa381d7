/** The part of curl that the pages use, so that their examples also run on a machine without curl. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

const words = process.argv.slice(2);
const headers = new Headers();
const given = { url: '', failsAt: Number.POSITIVE_INFINITY };

/** `@file`, or `@-` for the standard input. Without `@` it is the text itself. */
const contentOf = (text) =>
  text.startsWith('@') ? readFileSync(text === '@-' ? 0 : text.slice(1), 'utf8').replaceAll('\n', '') : text;

const options = {
  '-s': () => {},
  '-S': () => {},
  '-H': (value) => headers.set(...value.split(/: (.*)/s).slice(0, 2)),
  '-X': (value) => {
    given.method = value;
  },
  '-d': (value) => {
    given.body = contentOf(value);
  },
  '-F': (value) => {
    given.body ??= new FormData();
    const [name, content] = value.split(/=(.*)/s);
    if (!content.startsWith('@')) given.body.append(name, content);
    else given.body.append(name, new Blob([readFileSync(content.slice(1))]), basename(content));
  },
  '-o': (value) => {
    given.output = value;
  },
  '--fail-with-body': () => {
    given.failsAt = 400;
  },
};

for (let word = words.shift(); word !== undefined; word = words.shift()) {
  if (!word.startsWith('-')) {
    given.url = word;
    continue;
  }
  // Letters can be joined, as in `-sS`.
  for (const option of word.startsWith('--')
    ? [word]
    : word.slice(1).replaceAll(/./g, ' -$&').trim().split(' ')) {
    if (!Object.hasOwn(options, option)) throw new Error(`no such option here: ${option}`);
    options[option](...(options[option].length ? [words.shift()] : []));
  }
}
const { url, method, body, output, failsAt } = given;
const response = await fetch(url, { method: method ?? (body ? 'POST' : 'GET'), headers, body });
writeFileSync(output ?? 1, Buffer.from(await response.arrayBuffer()));
if (response.status >= failsAt) {
  console.error(`curl: (22) The requested URL returned error: ${response.status}`);
  process.exitCode = 22;
}
