import { expect, test } from 'vitest';
import { type AttributeType, fitsDefault, fitsType, parseDefault, valueInForce } from './rules.ts';

test.each<[AttributeType, string, unknown]>([
  ['string', 'EU', 'EU'],
  ['string', '', ''],
  ['string', '["EU"]', '["EU"]'],
  ['string', 'null', 'null'],
  ['string', '🦊', '🦊'],
  ['number', '3', 3],
  ['number', ' -2.5e3 ', -2500],
  ['number', '0', 0],
  ['boolean', 'true', true],
  ['boolean', 'false', false],
  ['string_array', '["EU","US"]', ['EU', 'US']],
  ['string_array', '[]', []],
  ['number_array', '[1, 2.5]', [1, 2.5]],
  ['number_array', '[]', []],
])('the default of a %s can be %s', (type, text, value) => {
  expect(parseDefault(type, text)).toEqual(value);
  expect(fitsDefault(type, text)).toBe(true);
});

test.each<[AttributeType, string]>([
  ['string', 'a\0b'],
  ['string', '\ud800'],
  ['number', ''],
  ['number', 'three'],
  ['number', '"3"'],
  ['number', '0x10'],
  ['number', '1e999'],
  ['number', 'NaN'],
  ['number', 'null'],
  ['number', '[3]'],
  ['boolean', 'yes'],
  ['boolean', '1'],
  ['boolean', '"true"'],
  ['boolean', 'TRUE'],
  ['string_array', 'EU'],
  ['string_array', '"EU"'],
  ['string_array', '["EU", 1]'],
  ['string_array', '["EU", null]'],
  ['string_array', '[["EU"]]'],
  ['string_array', '{"0":"EU"}'],
  ['string_array', '["\\u0000"]'],
  ['string_array', '["\\ud800"]'],
  ['number_array', '1,2'],
  ['number_array', '[1,"2"]'],
  ['number_array', '[1e999]'],
  ['number_array', '[true]'],
])('the default of a %s cannot be %j', (type, text) => {
  expect(parseDefault(type, text)).toBeUndefined();
  expect(fitsDefault(type, text)).toBe(false);
});

const TYPES: AttributeType[] = ['string', 'number', 'boolean', 'string_array', 'number_array'];

test.each<[unknown, AttributeType[]]>([
  ['EU', ['string']],
  ['', ['string']],
  [3, ['number']],
  [Number.POSITIVE_INFINITY, []],
  [Number.NaN, []],
  [false, ['boolean']],
  [['EU'], ['string_array']],
  [[1], ['number_array']],
  [[], ['string_array', 'number_array']],
  [['EU', 1], []],
  [[Number.NaN], []],
  [[null], []],
  [null, []],
  [undefined, []],
  [{}, []],
])('%j fits only the types %j', (value, types) => {
  expect(TYPES.filter((type) => fitsType(type, value))).toEqual(types);
});

test('the value of a user wins over the default, and without both it is null', () => {
  expect(valueInForce('boolean', false, 'true')).toBe(false);
  expect(valueInForce('boolean', null, 'true')).toBe(true);
  expect(valueInForce('boolean', null, null)).toBeNull();
});
