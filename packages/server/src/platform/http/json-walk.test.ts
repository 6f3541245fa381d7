import { describe, expect, test } from 'vitest';
import { checkJson } from './json-walk.ts';

const codeOf = (text: string) => {
  try {
    checkJson(text);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('integers beyond ±(2^53 - 1) are refused in every notation', () => {
  test.each([
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '9007199254740993.0',
    '9007199254740993.5',
    '1e16',
    '1E+16',
    '0.1e18',
    '1e400',
    '-1e400',
    '1'.repeat(400),
    `0.${'0'.repeat(400)}1e420`,
  ])('%s', (number) => {
    for (const text of [number, `[${number}]`, `{"a":${number}}`, `{"a":[{"b": ${number} }]}`])
      expect(codeOf(text)).toBe('integer_too_large');
  });

  test.each([
    '9007199254740991',
    '-9007199254740991',
    '-0',
    '0.1',
    '1e15',
    '9007199254740991000e-3',
    '3.141592653589793',
    '0.10000000000000001',
    '0.30000000000000004',
    '1.100000000000000000000',
    '0.000000000000000000000',
    '5e-324',
    '12.5e-3',
    `1.${'0'.repeat(1000)}`,
    '"9007199254740993"',
    '"1e400"',
    '{"9007199254740993":1}',
    '"\\"9007199254740993"',
  ])('but not %s', (text) => {
    expect(codeOf(text)).toBeNull();
    expect(codeOf(`{"a":[${text}]}`)).toBeNull();
  });

  test('the message says where the number is and what to do', () => {
    const text = '{"userAttributes":[{"name":"a"},{"name":"b","value":[1,9007199254740993]}]}';
    expect(() => checkJson(text)).toThrow('at userAttributes[1].value[1]: send it as text');
  });
});

describe('numbers that would be returned with other digits are refused', () => {
  test.each([
    '0.12345678901234567890',
    '-0.12345678901234567890',
    '123456789.123456789123',
    '3.141592653589793238462643383279',
    '1234567890123456.7',
    '1e-400',
    `0.${'1'.repeat(1000)}`,
  ])('%s', (number) => {
    for (const text of [number, `{"a":[${number}]}`]) expect(codeOf(text)).toBe('number_too_precise');
    expect(codeOf(`"${number}"`)).toBeNull();
  });
});

test('a body with very many values is refused, because each value takes time', () => {
  expect(codeOf(`[${Array(200_000).fill('{}').join(',')}]`)).toBeNull();
  expect(codeOf(`[${Array(200_002).fill('{}').join(',')}]`)).toBe('json_too_many_values');
});

test('the key __proto__ is refused with a message that names it', () => {
  for (const text of ['{"__proto__":1}', '{"\\u005f_proto__":1}'])
    expect(() => checkJson(text)).toThrow('has the key `__proto__`');
  expect(codeOf('["__proto__"]')).toBeNull();
});

describe('a key given twice in one object is refused', () => {
  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"b":{"c":1},"a":2}',
    '[{"x":{"a":1,"a":1}}]',
    '{"a":1,"\\u0061":2}',
    '{"\\n":1,"\\u000a":2}',
    '{"\\/":1,"/":2}',
    '{"😀":1,"\\ud83d\\ude00":2}',
    '{"":1,"":2}',
    '{"1":1,"1":2}',
    '{ "a" : {} , "a" : [] }',
  ])('%s', (text) => {
    JSON.parse(text);
    expect(codeOf(text)).toBe('duplicate_key');
  });

  test.each([
    '{"a":1,"A":1}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":"a","b":"a"}',
    '{"a":["a","a"],"b":{}}',
    '{"a":"\\"a\\":1,\\"a\\":1"}',
    '{"a\\\\":1,"a":2}',
    '{"\u00e9":1,"e\u0301":2}',
  ])('but not in %s', (text) => {
    JSON.parse(text);
    expect(codeOf(text)).toBeNull();
  });

  test('the message names the key', () => {
    expect(() => checkJson('{"a":[{},{"b":1,"b":2}]}')).toThrow('a[1].b twice');
  });
});

test.each([
  ['"\\u0000"', 'invalid_text'],
  ['"\\ud800"', 'invalid_text'],
  ['"\\udc00"', 'invalid_text'],
  ['"\\ud800\\ud800"', 'invalid_text'],
  ['"\\ud800x"', 'invalid_text'],
  ['{"\\ud800":1}', 'invalid_text'],
  ['"\\ud83d\\ude00"', null],
  ['"\\\\u0000"', null],
])('text that cannot be stored: %s', (text, code) => {
  expect(codeOf(text)).toBe(code);
});

test.each([
  ['{"files":[{"path":"a"},{"path":"a\\u0000b"}]}', 'files[1].path: must not have NUL (U+0000)'],
  ['{"a":{"b":"\\ud800"}}', 'a.b: must not have half of a character'],
  ['{"a":{"b":1,"\\u0000":2}}', 'a: must not have NUL'],
  ['"\\u0000"', 'The body must not have NUL'],
])('the error of %s says where the text is', (text, message) => {
  expect(() => checkJson(text)).toThrow(message);
});

test('nesting is counted only outside of texts', () => {
  expect(codeOf('['.repeat(100) + ']'.repeat(100))).toBeNull();
  expect(codeOf('['.repeat(101))).toBe('json_too_deep');
  expect(codeOf(JSON.stringify('['.repeat(500)))).toBeNull();
  expect(codeOf(`[${'[],'.repeat(500)}1]`)).toBeNull();
});

describe('text that is not JSON is left to the parser, or refused', () => {
  test.each([
    '',
    '{',
    '}',
    ']]]',
    '{"a',
    '{"a\\',
    '"\\u12',
    '{,}',
    '{"a":}',
    '{"\\x":1}',
    '- - -',
    '1e',
    ':::,,,',
  ])('%s', (text) => {
    expect([null, 'malformed_json']).toContain(codeOf(text));
  });
});

/** Counts the characters that are read, because times depend on the machine. */
describe('each character is read a few times at most', () => {
  const many = (count: number, of: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => of(i)).join(',');
  test.each([
    ['runs of 308 digits', `[${many(300, () => `0.5${'0'.repeat(305)}`)}]`],
    ['one number', `0.5${'0'.repeat(100_000)}`],
    ['many keys', `{${many(10_000, (i) => `"key ${i}":1`)}}`],
    ['many keys that are numbers', `{${many(10_000, (i) => `"${i}":1`)}}`],
    ['many keys with escapes', `{${many(10_000, (i) => `"\\u006bey\\n${i}":1`)}}`],
    ['escapes', JSON.stringify('\\"'.repeat(50_000))],
    ['escaped text without an end', `"${'\\u0041'.repeat(20_000)}`],
    ['many objects', `[${many(20_000, () => '{"a":{}}')}]`],
  ])('%s', (_, text) => {
    let looks = 0;
    const counting = {
      length: text.length,
      charCodeAt(i: number) {
        looks++;
        return text.charCodeAt(i);
      },
      slice(from: number, to: number) {
        looks += to - from;
        return text.slice(from, to);
      },
    };
    checkJson(counting as unknown as string);
    expect(looks).toBeLessThan(10 * text.length);
  });
});
