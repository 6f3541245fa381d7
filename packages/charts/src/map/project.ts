/** From degrees to the map: the projection called Natural Earth, in which the geometry of the countries is. */

/** The map ends where Fiji meets the 180th degree, and at the north of Greenland. */
const SCALE = 185.2;
const CENTER = 500;
const NORTH = 83.6;

function natural(longitude: number, latitude: number): [x: number, y: number] {
  const a = (longitude * Math.PI) / 180;
  const b = (latitude * Math.PI) / 180;
  const b2 = b * b;
  const b4 = b2 * b2;
  return [
    a * (0.8707 - 0.131979 * b2 + b4 * (-0.013791 + b4 * (0.003971 * b2 - 0.001529 * b4))),
    b * (1.007226 + b2 * (0.015085 + b4 * (-0.044475 + 0.028874 * b2 - 0.005916 * b4))),
  ];
}

const TOP = natural(0, NORTH)[1];

/** Undefined for what is no place. */
export function projected(longitude: unknown, latitude: unknown): { x: number; y: number } | undefined {
  if (longitude == null || latitude == null || longitude === '' || latitude === '') return undefined;
  const [east, north] = [Number(longitude), Number(latitude)];
  if (!(Math.abs(east) <= 180 && Math.abs(north) <= 90)) return undefined;
  const [x, y] = natural(east, north);
  return { x: CENTER + x * SCALE, y: (TOP - y) * SCALE };
}
