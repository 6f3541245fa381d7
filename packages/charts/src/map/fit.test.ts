import { expect, test } from 'vitest';
import { fitting } from './fit.ts';
import world from './world.json';

const box = (...codes: string[]) =>
  fitting(
    world.countries.filter(([code]) => codes.includes(code!)).map((country) => country[3]!),
    world,
  ).map(Math.round);

test('a map fits the countries that have values, without their lands overseas', () => {
  const [left, top, width, height] = box('DE', 'FR', 'ES', 'IT') as [number, number, number, number];
  // Spain is not cut off, Guiana is left out.
  expect(left).toBeGreaterThan(430);
  expect(left + width).toBeLessThan(640);
  expect(top).toBeLessThan(90);
  expect(height).toBeLessThan(120);
});

test('a small country is shown with its neighbours, and the whole world as a whole', () => {
  expect(box('LU').slice(2)).toEqual([160, 90]);
  expect(box(...world.countries.map(([code]) => code!))).toEqual([0, 0, world.width, world.height]);
});

test('Alaska belongs to the United States, and nothing is outside of the world', () => {
  const [left, , width] = box('US') as [number, number, number];
  expect(left).toBeLessThan(110);
  expect(left).toBeGreaterThanOrEqual(0);
  expect(width).toBeGreaterThan(240);
});
