/**
 * `npm run release -- <version>`: sets the version everywhere, adds the commits since the last tag to CHANGELOG.md, and
 * makes the tarballs in `release`. It commits, tags and publishes nothing; it prints how to.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fail, root } from './install.mjs';
import { compareVersions, isVersion } from './packages/version.ts';

const [version = ''] = process.argv.slice(2);
if (!isVersion(version)) fail('Usage: npm run release -- <version>, such as 1.2.0');
if (git('status', '--porcelain')) fail('There are changes that are not committed: commit them first.');
const last = lastRelease();
refuseWrongVersion();

const before = new Map<string, string>();
// A release is made whole or not at all.
process.once('exit', (code) => {
  if (code === 0 || before.size === 0) return;
  for (const [path, text] of before) writeFileSync(path, text);
  console.error('There is no release: the files are as they were.');
});
process.once('SIGINT', () => process.exit(130));

setVersion();
writeChangelog();
// Imported only here, because it loads much that a refusal does not need.
const { packAll } = await import('./packages/all.ts');
const tarballs = await packAll(join(root, 'release'));
console.log(`
Made in release/, with SHA256SUMS:
${tarballs.map((path) => `  ${basename(path)}`).join('\n')}

Nothing was published. Read CHANGELOG.md, shorten what no user needs, and then:

  npm test
  git commit -am "Release ${version}" && git tag -a v${version} -m "Oriel ${version}"
  git push --follow-tags
${tarballs.map((path) => `  npm publish --access public release/${basename(path)}`).join('\n')}`);

function runGit(args: string[]) {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8' });
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = runGit(args);
  if (status !== 0) fail(`git ${args[0]} failed: ${stderr}`);
  return stdout.trim();
}

/** The tag of the last release before this commit. A clone may lack tags, and then it does not know the last release. */
function lastRelease(): string | undefined {
  const tag = runGit(['describe', '--tags', '--abbrev=0', '--match', 'v*']).stdout.trim() || undefined;
  const [, written] = /^## (\S+) \(\d/m.exec(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')) ?? [];
  const isKnown = written ? tag === `v${written}` : tag || !git('tag', '--list', 'v*');
  if (!isKnown)
    fail(
      `The history lacks the tag of the last release${written ? `, v${written}` : ''}: fetch it with \`git fetch --tags\`, and in a shallow clone with \`--unshallow\` too.`,
    );
  return tag?.slice(1);
}

function refuseWrongVersion() {
  if (git('tag', '--list', `v${version}`))
    fail(`The tag v${version} is there already: choose another version.`);
  if (last && compareVersions(version, last) < 0)
    fail(`${version} is lower than ${last}, the last release: choose another version.`);
  const { version: current } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (compareVersions(version, current) < 0)
    fail(`${version} is lower than ${current}, the version of this checkout: choose another version.`);
}

/**
 * Sets the version in the manifests, the lock file and the sample for Kubernetes. Our packages name each other by their
 * exact versions.
 */
function setVersion() {
  const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
  for (const folder of ['.', ...folders]) editJson(join(folder, 'package.json'), setIn);
  editJson('package-lock.json', (lock) => {
    lock.version = version;
    for (const folder of ['', ...folders]) setIn((lock.packages as Record<string, Json>)[folder]!);
  });
  edit('deploy/kubernetes/kustomization.yaml', (text) => text.replace(/(?<=^ +newTag: ).*$/m, version));
}

type Json = Record<string, unknown>;

function setIn(manifest: Json) {
  manifest.version = version;
  for (const field of ['dependencies', 'devDependencies']) {
    const given = (manifest[field] ?? {}) as Record<string, string>;
    for (const name of Object.keys(given)) if (name.startsWith('@oriel/')) given[name] = version;
  }
}

function editJson(file: string, change: (content: Json) => void) {
  edit(file, (text) => {
    const content = JSON.parse(text);
    change(content);
    return `${JSON.stringify(content, null, 2)}\n`;
  });
}

function edit(file: string, change: (text: string) => string) {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  before.set(path, text);
  writeFileSync(path, change(text));
}

/** The new section comes before the first one. A section that was written before gets the day, and stays as it is. */
function writeChangelog() {
  const title = `## ${version} (${new Date().toISOString().slice(0, 10)})`;
  const prepared = `## ${version} (not released yet)`;
  edit('CHANGELOG.md', (text) =>
    text.includes(`\n${prepared}\n`)
      ? text.replace(prepared, title)
      : withSection(text, `${title}\n\n${changes()}\n\n`),
  );
}

function withSection(text: string, section: string): string {
  const place = text.search(/^## /m);
  const [head, others] =
    place < 0 ? [`${text.trimEnd()}\n\n`, ''] : [text.slice(0, place), text.slice(place)];
  return `${(head + section + others).trimEnd()}\n`;
}

/** The list of commits since the last release; empty for the first one. */
function changes(): string {
  const subjects = last ? git('log', '--no-merges', '--format=%s', `v${last}..HEAD`).split('\n') : [];
  return subjects.map((subject) => subject && `- ${subject}`).join('\n');
}
