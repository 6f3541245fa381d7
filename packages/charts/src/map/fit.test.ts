import { expect, test } from 'vitest';
import { fitting } from './fit.ts';
import { projected } from './project.ts';
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

/** Whether a place is in the shapes of a path, by how many edges a line to the left crosses. */
function isIn(path: string, { x, y }: { x: number; y: number }) {
  let crossed = 0;
  for (const shape of path.split('M').filter(Boolean)) {
    const [left = 0, top = 0, ...steps] = (shape.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
    const corners = [[left, top]];
    for (let i = 0; i + 1 < steps.length; i += 2)
      corners.push([corners.at(-1)![0]! + steps[i]!, corners.at(-1)![1]! + steps[i + 1]!]);
    for (const [i, [ax, ay]] of corners.entries()) {
      const [bx, by] = corners[(i + 1) % corners.length]!;
      if (ay! > y !== by! > y && x > ((bx! - ax!) * (y - ay!)) / (by! - ay!) + ax!) crossed++;
    }
  }
  return crossed % 2 === 1;
}

test.each([
  ['US', 39.1, -94.6],
  ['US', 64.8, -147.7],
  ['CA', 51.0, -114.1],
  ['MX', 22.2, -101.0],
  ['BR', -15.8, -47.9],
  ['AR', -35.0, -64.0],
  ['ES', 40.4, -3.7],
  ['FR', 46.6, 2.4],
  ['DE', 51.3, 9.5],
  ['AT', 47.6, 14.2],
  ['CH', 46.9, 8.2],
  ['SE', 63.8, 16.5],
  ['IS', 64.9, -18.5],
  ['NG', 9.1, 7.5],
  ['ZA', -29.1, 24.2],
  ['KE', 0.5, 37.9],
  ['IN', 21.1, 79.1],
  ['CN', 34.3, 103.8],
  ['JP', 36.2, 138.3],
  ['ID', -0.5, 102.0],
  ['AU', -25.0, 134.0],
  ['NZ', -43.9, 171.2],
])('a point in %s is drawn in it', (code, latitude, longitude) => {
  const country = world.countries.find(([alpha2]) => alpha2 === code)!;
  expect(isIn(country[3]!, projected(longitude, latitude)!)).toBe(true);
});

test('what is no place is on no map', () => {
  for (const [longitude, latitude] of [
    [null, 1],
    [1, ''],
    [181, 0],
    [0, 91],
    ['x', 0],
    [0, undefined],
  ])
    expect(projected(longitude, latitude)).toBeUndefined();
});
