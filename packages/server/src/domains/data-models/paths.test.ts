import { describe, expect, test } from 'vitest';
import { clashes, composed, contentProblem, pathProblem } from './paths.ts';

describe('paths that are allowed', () => {
  test.each([
    'orders.yml',
    'model/cubes/orders.yml',
    'model/Umsätze für Köln.yml',
    'a/b/c/d/e/f/g.yml',
    '.gitignore',
    'model/.github/x.yml',
    'model/git/x.yml',
    'a..b/c',
    '...a',
    'console.yml',
    'com10/auxiliary.yml',
    'model/prn_.yml',
    'proto/__proto.yml',
    '%2e%2e/x',
    '-f',
    `${'x'.repeat(255)}/y`,
    `${'x/'.repeat(20)}y`,
    '報告/売上.yml',
    '📈.yml',
  ])('%s', (path) => {
    expect(pathProblem(path)).toBeUndefined();
  });
});

describe('paths that are refused', () => {
  test.each([
    ['nothing', ''],
    ['an absolute path', '/etc/passwd'],
    ['the folder above', '../x'],
    ['the folder above, further down', 'a/../../x'],
    ['the folder above, at the end', 'a/..'],
    ['the folder itself', './x'],
    ['a folder', 'a/'],
    ['an empty part', 'a//b'],
    ['a backslash', 'a\\b'],
    ['a drive of Windows with a backslash', 'c:\\x'],
    ['NUL', 'a\0b'],
    ['a line break', 'a\nb'],
    ['a control character beyond ASCII', 'a\u0085b'],
    ['a character that turns text around', 'a\u202egpj.yml'],
    ['half of a character', 'a\ud800b'],
    ['a part of 256 bytes', 'x'.repeat(256)],
    ['more than 20 folders', `${'x/'.repeat(21)}y`],
    ['a part of 255 characters that has more bytes', 'ä'.repeat(128)],
    ['a path of more than 1024 bytes', `${'abcdefg/'.repeat(128)}x`],
    ["git's own folder", '.git/config'],
    ["git's own folder, further down", 'a/.git/config'],
    ["git's own folder as a file", 'a/.git'],
    ["git's own folder, by case", '.GIT/config'],
    ["git's own folder, by mixed case", 'a/.GiT'],
    ["git's own folder, by its short name on Windows", 'git~1/config'],
    ["git's own folder, by its short name in capitals", 'GIT~1'],
    ["git's own folder, with dots and spaces at its end", '.git . ./x'],
    ["git's own folder, with a stream", '.git::$INDEX_ALLOCATION/x'],
    ["git's own folder, with an ignored character", '.g\u200cit/config'],
    ["git's own folder, with an ignored character before it", '\ufeff.git'],
    ["git's own folder, in wide letters", '.ｇｉｔ/config'],
    ['a name that JSON objects cannot have', 'a/__proto__'],
    ['a device of Windows', 'con'],
    ['a device of Windows, with an ending', 'model/NUL.yml'],
    ['a device of Windows, with two endings', 'aux.tar.gz/x'],
    ['a device of Windows, with a blank before its ending', 'Com1 .yml'],
    ['a device of Windows, with a raised digit', 'LPT².yml'],
    ['a console of Windows', 'conin$'],
    ['a part that ends with a blank', 'a /b'],
    ['a part that is a blank', ' '],
    ['a part that ends with a dot', 'a/b.'],
    ['only dots', '...'],
    ['a colon', 'a:b'],
    ['a question mark', 'what?.yml'],
    ['submodules', '.gitmodules'],
    ['submodules, further down and by case', 'a/.GitModules'],
  ])('%s', (_, path) => {
    expect(pathProblem(path)).toMatch(/^(must|can)/);
  });
});

test('both normal forms of a path are the same path', () => {
  expect(composed('mode\u0301le.yml')).toBe(composed('modéle.yml'));
});

describe('contents', () => {
  const refused = /^must/;
  test.each([
    ['text', Buffer.from('cubes: []\n'), undefined],
    ['nothing', Buffer.alloc(0), undefined],
    ['text of every script', Buffer.from('名前: Übersicht 📈'), undefined],
    ['1 MB', Buffer.alloc(1024 * 1024, 'x'), undefined],
    ['more than 1 MB', Buffer.alloc(1024 * 1024 + 1, 'x'), refused],
    ['NUL', Buffer.from('a\0b'), refused],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0xff, 0xfe]), refused],
    ['a picture', Buffer.from('89504e470d0a1a0a', 'hex'), refused],
  ])('%s', (_, content, problem) => {
    if (problem) expect(contentProblem('model/a.YAML', content)).toMatch(problem);
    else expect(contentProblem('a.yml', content)).toBeUndefined();
    const isTooLarge = content.length > 1024 * 1024;
    expect(contentProblem('images/logo.png', content) !== undefined).toBe(isTooLarge);
  });
});

describe('files that cannot be beside each other', () => {
  test.each([
    ['another file', ['a.yml', 'b.yml'], 'b.yml', undefined],
    ['the same folder', ['a/a.yml', 'a/b.yml'], 'a/b.yml', undefined],
    ['another case', ['Orders.yml', 'orders.yml'], 'orders.yml', /case from Orders\.yml/],
    ['another case beyond ASCII', ['Ümsatz.yml', 'ümsatz.yml'], 'ümsatz.yml', /case/],
    ['a long s beside an s', ['s.yml', 'ſ.yml'], 'ſ.yml', /case from s\.yml/],
    ['a sharp s beside two', ['masse.yml', 'Maße.yml'], 'Maße.yml', /case from masse/],
    ['a capital sharp s', ['maße.yml', 'MAẞE.yml'], 'MAẞE.yml', /case from maße/],
    ['the sign of Kelvin', ['k.yml', '\u212a.yml'], '\u212a.yml', /case from k/],
    ['the two small sigmas', ['σ/ας.yml', 'Σ/ασ.yml'], 'Σ/ασ.yml', /case/],
    ['an ı without its dot', ['isi.yml', 'ısı.yml'], 'ısı.yml', undefined],
    ['a folder with the name of a file', ['a', 'a/b.yml'], 'a/b.yml', /below a, which is a file/],
    ['a file with the name of a folder', ['a/b.yml', 'a'], 'a', /is a folder, because there is a\/b\.yml/],
    ['a folder with the name of a file, by case', ['A', 'a/b.yml'], 'a/b.yml', /below A/],
    ['a file several folders up', ['a', 'a/b/c/d.yml'], 'a/b/c/d.yml', /below a/],
  ])('%s', (_, paths, added, problem) => {
    const found = clashes(paths, new Set([added])).get(added);
    if (problem) expect(found).toMatch(problem);
    else expect(found).toBeUndefined();
  });

  test('problems that were there before are not problems of the files that are added', () => {
    expect(clashes(['A', 'a', 'b'], new Set(['b'])).size).toBe(0);
  });
});
