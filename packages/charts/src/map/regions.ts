/** Sales regions, for rows that know no country. */
const AMERICAS =
  'AR BO BR BS BZ CA CL CO CR CU DO EC FK GL GT GY HN HT JM MX NI PA PE PR PY SR SV TT US UY VE'.split(' ');
const NORTH_AMERICA = ['US', 'CA', 'MX', 'GL'];
const ASIA_PACIFIC =
  'AF AU BD BN BT CN FJ ID IN JP KG KH KP KR KZ LA LK MM MN MY NC NP NZ PG PH PK SB SG TH TJ TL TM TW UZ VN VU'.split(
    ' ',
  );
const EUROPE =
  'AL AT BA BE BG BY CH CY CZ DE DK EE ES FI FR GB GR HR HU IE IS IT LT LU LV MD ME MK NL NO PL PT RO RS RU SE SI SK UA XK'.split(
    ' ',
  );

const REGIONS: [names: string[], has: (code: string) => boolean][] = [
  [['north america', 'northam'], (code) => NORTH_AMERICA.includes(code)],
  [
    ['latin america', 'latam', 'south america'],
    (code) => AMERICAS.includes(code) && !['US', 'CA', 'GL'].includes(code),
  ],
  [['amer', 'americas'], (code) => AMERICAS.includes(code)],
  [['apac', 'asia', 'asia pacific'], (code) => ASIA_PACIFIC.includes(code)],
  [['eu', 'europe'], (code) => EUROPE.includes(code)],
  [['emea'], (code) => !AMERICAS.includes(code) && !ASIA_PACIFIC.includes(code)],
  [
    ['mea', 'middle east and africa', 'africa'],
    (code) => !AMERICAS.includes(code) && !ASIA_PACIFIC.includes(code) && !EUROPE.includes(code),
  ],
];

/** The key of the region among the rows that has the country, or an empty text. */
export function regionOf(alpha2: string, found: ReadonlyMap<string, unknown>): string {
  for (const [names, has] of REGIONS) {
    const name = names.find((each) => found.has(each));
    if (name && has(alpha2)) return name;
  }
  return '';
}
