/** The test files that may notice a fault: those beside the source, those that import it, and those that are named. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../install.mjs';

export function nearestTests(sources: string[], words: string[]): string[] {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'], {
    cwd: root,
    encoding: 'utf8',
  });
  const tests = files
    .trim()
    .split('\n')
    .filter((file) => /^packages\/(server|semantic|contract|client)\//.test(file));
  const folders = [...new Set(sources.map(folderOf))];
  const isNear = (test: string) =>
    folders.some((folder) => test.startsWith(`${folder}/`)) ||
    words.some((word) => test.includes(word)) ||
    importsOf(test).some((path) => sources.includes(path));
  return tests.filter(isNear).map((test) => join(root, test));
}

/** A domain or a part of the platform is tested as a whole, and so are the packages without a server. */
function folderOf(source: string): string {
  const parts = source.split('/');
  if (!source.startsWith('packages/server/')) return parts.slice(0, 3).join('/');
  return parts
    .slice(0, /^(domains|platform)$/.test(parts[3]!) ? 5 : 4)
    .join('/')
    .replace(/\.ts$/, '');
}

const importsOf = (test: string) =>
  [...readFileSync(join(root, test), 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, path]) =>
    join(dirname(test), path!),
  );
