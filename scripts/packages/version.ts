/** Versions, as semver writes and orders them. Build metadata is not used here. */
const NUMBER = '(?:0|[1-9]\\d*)';
const WORD = `(?:${NUMBER}|\\d*[a-z-][0-9a-z-]*)`;
const VERSION = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${WORD}(?:\\.${WORD})*)?$`);

export const isVersion = (text: string) => VERSION.test(text);

/** Compares two versions: negative if the first one is lower. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [partsOf(a), partsOf(b)];
  return (
    compareParts(first.numbers, second.numbers) ||
    // What comes before a release has words.
    Number(!first.words.length) - Number(!second.words.length) ||
    compareParts(first.words, second.words)
  );
}

function partsOf(version: string) {
  const [numbers, ...words] = version.split('-');
  return { numbers: numbers!.split('.'), words: words.length ? words.join('-').split('.') : [] };
}

/** Numbers by their size and before words. If all else is the same, the shorter list comes first. */
function compareParts(a: string[], b: string[]): number {
  const at = a.findIndex((part, i) => part !== b[i]);
  if (at < 0 || b[at] === undefined) return a.length - b.length;
  const [one, two] = [a[at]!, b[at]];
  const [isNumber, isOther] = [one, two].map((part) => /^\d+$/.test(part));
  if (isNumber && isOther) return Number(one) - Number(two);
  return isNumber !== isOther ? (isNumber ? -1 : 1) : one < two ? -1 : 1;
}
