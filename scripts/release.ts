/**
 * `npm run release -- <version>`: sets the version everywhere, adds the commits since the last tag to CHANGELOG.md, and
 * makes the tarballs in `release`. It commits, tags and publishes nothing; it prints how to.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fail } from './install.mjs';
import { packAll } from './packages/all.ts';
import { root } from './packages/tarball.ts';

const [version = ''] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+(-[0-9a-z.-]+)?$/.test(version))
  fail('Usage: npm run release -- <version>, such as 1.2.0');
if (git('status', '--porcelain')) fail('There are changes that are not committed: commit them first.');
if (git('tag', '--list', `v${version}`))
  fail(`The tag v${version} is there already: choose another version.`);

setVersion();
writeChangelog();
const tarballs = await packAll(join(root, 'release'));
console.log(`
Made in release/, with SHA256SUMS:
${tarballs.map((path) => `  ${basename(path)}`).join('\n')}

Nothing was published. Read CHANGELOG.md, shorten what no user needs, and then:

  npm test
  git commit -am "Release ${version}" && git tag -a v${version} -m "Oriel ${version}"
  git push --follow-tags
${tarballs.map((path) => `  npm publish --access public release/${basename(path)}`).join('\n')}`);

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) fail(`git ${args[0]} failed: ${stderr}`);
  return stdout.trim();
}

/** In the manifests and the lock file. Our packages name each other by their exact versions. */
function setVersion() {
  const folders = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
  for (const folder of ['.', ...folders]) edit(join(folder, 'package.json'), setIn);
  edit('package-lock.json', (lock) => {
    lock.version = version;
    for (const folder of ['', ...folders]) setIn((lock.packages as Record<string, Json>)[folder]!);
  });
}

type Json = Record<string, unknown>;

function setIn(manifest: Json) {
  manifest.version = version;
  for (const field of ['dependencies', 'devDependencies']) {
    const given = (manifest[field] ?? {}) as Record<string, string>;
    for (const name of Object.keys(given)) if (name.startsWith('@oriel/')) given[name] = version;
  }
}

function edit(file: string, change: (content: Json) => void) {
  const path = join(root, file);
  const content = JSON.parse(readFileSync(path, 'utf8'));
  change(content);
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}

/** The new section comes before the last one. A section that was written before gets the day, and stays as it is. */
function writeChangelog() {
  const path = join(root, 'CHANGELOG.md');
  const text = readFileSync(path, 'utf8');
  const day = new Date().toISOString().slice(0, 10);
  const title = `## ${version} (${day})`;
  const prepared = `## ${version} (not released yet)`;
  if (text.includes(`\n${prepared}\n`)) {
    writeFileSync(path, text.replace(prepared, title));
    return;
  }
  const last = spawnSync('git', ['describe', '--tags', '--abbrev=0', '--match', 'v*'], {
    cwd: root,
    encoding: 'utf8',
  }).stdout.trim();
  const subjects = last ? git('log', '--no-merges', '--format=%s', `${last}..HEAD`).split('\n') : [];
  const lines = subjects.filter(Boolean).map((subject) => `- ${subject}`);
  const section = `${title}\n\n${lines.join('\n')}\n\n`;
  const place = text.search(/^## /m);
  const [before, after] =
    place < 0 ? [`${text.trimEnd()}\n\n`, ''] : [text.slice(0, place), text.slice(place)];
  writeFileSync(path, `${(before + section + after).trimEnd()}\n`);
}
