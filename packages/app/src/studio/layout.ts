/** Places of cubes in a picture: those that others lead to stand below them, and each row is ordered by its neighbours. */

export interface PlacedCube {
  name: string;
  x: number;
  y: number;
}

export const BOX = { width: 168, height: 44, gapX: 28, gapY: 72 };

export function layOut(
  cubes: readonly { name: string; joins: readonly { to: string }[] }[],
): Map<string, PlacedCube> {
  const names = new Set(cubes.map(({ name }) => name));
  const depths = new Map<string, number>();
  const joinsOf = new Map(
    cubes.map(({ name, joins }) => [name, joins.map(({ to }) => to).filter((to) => names.has(to))]),
  );
  // As deep as the longest way to it; a circle ends where it began.
  const visit = (name: string, depth: number, way: ReadonlySet<string>) => {
    if (way.has(name) || depth > 30 || (depths.get(name) ?? -1) >= depth) return;
    depths.set(name, depth);
    for (const to of joinsOf.get(name) ?? []) visit(to, depth + 1, new Set([...way, name]));
  };
  const targets = new Set([...joinsOf.values()].flat());
  for (const { name } of cubes) if (!targets.has(name)) visit(name, 0, new Set());
  for (const { name } of cubes) if (!depths.has(name)) visit(name, 0, new Set());
  const rows: string[][] = [];
  for (const [name, depth] of depths) {
    rows[depth] ??= [];
    rows[depth].push(name);
  }
  const placed = new Map<string, PlacedCube>();
  let y = 0;
  for (const row of rows.filter(Boolean)) {
    const middle = (name: string) => {
      const above = [...placed.values()].filter((one) => joinsOf.get(one.name)?.includes(name));
      return above.length ? above.reduce((sum, { x }) => sum + x, 0) / above.length : 0;
    };
    const ordered = [...row].sort((a, b) => middle(a) - middle(b) || (a < b ? -1 : 1));
    const perLine = Math.max(4, Math.ceil(Math.sqrt(names.size * 2)));
    ordered.forEach((name, i) => {
      const line = Math.floor(i / perLine);
      placed.set(name, {
        name,
        x: (i % perLine) * (BOX.width + BOX.gapX),
        y: y + line * (BOX.height + BOX.gapX),
      });
    });
    y += Math.ceil(ordered.length / perLine) * (BOX.height + BOX.gapX) + BOX.gapY - BOX.gapX;
  }
  return placed;
}
